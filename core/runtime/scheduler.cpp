// SPDX-License-Identifier: Apache-2.0
#include "runtime/scheduler.h"

#include <utility>
#include <vector>

#include "base/lasting.h"

namespace softnpu::runtime {
namespace {

// Queues that this thread's outermost run takes up when its own work is done. Those that its work
// has released: taking them up on the spot would nest as deep as streams wait for each other.
thread_local constinit std::vector<std::shared_ptr<Queue>>* later = nullptr;

// Work that launches work, which launches work: from this depth on it is taken up later, too.
constexpr int kDeepest = 100;
thread_local constinit int depth = 0;

void run_nested(Queue& queue) {
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } const level;
  queue.run_ready();
}

void run(Queue& queue) {
  if (later != nullptr) return run_nested(queue);
  struct Outermost {
    Outermost() { later = &list; }
    ~Outermost() { later = nullptr; }
    std::vector<std::shared_ptr<Queue>> list;
  } outermost;
  queue.run_ready();
  for (auto& list = outermost.list; !list.empty();) {
    const auto next = std::move(list.back());
    list.pop_back();
    next->run_ready();
  }
}

void run_later(std::shared_ptr<Queue> queue) {
  // A thread that waits for the queue need not wait for this thread's turn to come.
  queue->wake_waiters();
  later->push_back(std::move(queue));
}

}  // namespace

void ImmediateScheduler::submitted(Queue& queue) {
  depth < kDeepest ? run(queue) : run_later(queue.shared_from_this());
}

void ImmediateScheduler::wanted(Queue& queue) { run(queue); }

void ImmediateScheduler::resumed(std::shared_ptr<Queue> queue) {
  later == nullptr ? run(*queue) : run_later(std::move(queue));
}

Scheduler& scheduler() { return lasting<ImmediateScheduler>; }

}  // namespace softnpu::runtime
