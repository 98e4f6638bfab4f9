// SPDX-License-Identifier: Apache-2.0
// What Python asks of the backend: torch.ops.softnpu_device.*
#include <ATen/core/Generator.h>
#include <torch/library.h>

#include <mutex>
#include <set>
#include <string>

#include "aliases.h"
#include "fallback.h"
#include "late.h"

namespace softnpu::npu {

namespace {

thread_local int64_t began = 0;

// Begins work that Python computes on the CPU over the device's memory. Returns what the written
// tensor contains if the result is to arrive late.
std::optional<at::Tensor> begin_work(const at::Tensor& written) {
  const DeviceIndex index = written.device().index();
  enter(index);
  if (!is_tracked()) return {};
  run_work_before(index, Waits::stream);
  began = now();
  if (!results_are_late(index)) return {};
  return cpu_alias(written).clone();
}

void end_work(std::string name, at::TensorList read, const at::Tensor& written,
              const std::optional<at::Tensor>& before) {
  if (!is_tracked()) return;
  c10::SmallVector<Use, 8> uses;
  for (const at::Tensor& each : read)
    if (each.device().type() == kNpu) uses.push_back({"input", each, false});
  uses.push_back({"result", written, true});
  static auto& names = *new std::set<std::string>;  // the runtime keeps no copies
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  const char* const what = names.insert(std::move(name)).first->c_str();
  lock.unlock();
  const DeviceIndex index = written.device().index();
  if (before)
    delay(index, what, {{cpu_alias(written), written.storage(), *before}}, uses);
  else
    note_work(index, what, began, uses);
}

}  // namespace

TORCH_LIBRARY(softnpu_device, m) {
  m.def("default_generator(int device) -> Generator?",
        [](int64_t index) { return default_generator(static_cast<DeviceIndex>(index)); });
  m.def("device_count() -> int", [] { return static_cast<int64_t>(device_count()); });
  m.def("current_device() -> int", [] { return static_cast<int64_t>(current_device()); });
  m.def("is_bad_fork() -> bool", [] { return is_bad_fork(); });
  m.def("is_set_up(int device) -> bool",
        [](int64_t index) { return is_set_up(static_cast<DeviceIndex>(index)); });
  m.def("set_up(int device) -> ()", [](int64_t index) { enter(static_cast<DeviceIndex>(index)); });
  m.def("elapsed_time(int start, int end) -> float", [](int64_t start, int64_t end) {
    TORCH_CHECK(start != 0 && end != 0,
                "Both events must be recorded before calculating elapsed time.");
    float ms = 0;
    check(aclrtEventElapsedTime(&ms, reinterpret_cast<aclrtEvent>(start),
                                reinterpret_cast<aclrtEvent>(end)),
          "aclrtEventElapsedTime");
    return static_cast<double>(ms);
  });
  m.def("prefer_cpu_kernels(str[] others) -> ()",
        [](const std::vector<std::string>& others) { prefer_cpu_kernels(others); });
  m.def("prefer_cpu_collectives() -> ()", &prefer_cpu_collectives);
  m.def("on_cpu(Tensor tensor) -> Tensor");
  m.def("begin_work(Tensor written) -> Tensor?");
  m.def("end_work(str name, Tensor[] read, Tensor written, Tensor? before) -> ()");
}

TORCH_LIBRARY_IMPL(softnpu_device, PrivateUse1, m) {
  m.impl("on_cpu", &cpu_alias);
  m.impl("begin_work", &begin_work);
  m.impl("end_work", &end_work);
}

}  // namespace softnpu::npu
