// SPDX-License-Identifier: Apache-2.0
// What Python asks of the backend: torch.ops.softnpu_device.*
#include <ATen/core/Generator.h>
#include <torch/library.h>

#include "aliases.h"
#include "fallback.h"

namespace softnpu::npu {

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
}

TORCH_LIBRARY_IMPL(softnpu_device, PrivateUse1, m) { m.impl("on_cpu", &cpu_alias); }

}  // namespace softnpu::npu
