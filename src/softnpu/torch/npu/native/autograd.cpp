// SPDX-License-Identifier: Apache-2.0
// Threads of PyTorch's autograd for devices that appear after it has started.
#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/engine.h>

#include <thread>

namespace softnpu::npu {
namespace {

using torch::autograd::Engine;
using torch::autograd::ReadyQueue;

// Autograd counts the devices once, at the first `backward()` of the process. There was none before
// this library was loaded if the thread that loads it had recorded no operation.
const bool is_late = at::sequence_number::peek() > 0;

// The queues of the engine are visible to classes derived from it.
class Started : public Engine {
 public:
  static std::vector<std::shared_ptr<ReadyQueue>>& queues(Engine& engine) {
    return engine.*(&Started::device_ready_queues_);
  }
};

}  // namespace

void give_autograd_threads() {
  if (!is_late) return;  // threads would keep children from computing gradients after a fork
  Engine& engine = Engine::get_default_engine();
  engine.initialize_device_threads_pool();
  auto& queues = Started::queues(engine);
  while (queues.size() < static_cast<size_t>(device_count())) {
    const auto index = static_cast<int>(queues.size());
    const auto& queue = queues.emplace_back(std::make_shared<ReadyQueue>());
    std::thread(&Engine::thread_init, &engine, index, queue, true).detach();
  }
}

}  // namespace softnpu::npu
