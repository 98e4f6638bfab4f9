// SPDX-License-Identifier: Apache-2.0
// Device tensors as CPU tensors over the same memory, for one call of an operator, and the way
// back.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "late.h"
#include "memory.h"
#include "work.h"

namespace softnpu::npu {

class Aliases {
 public:
  explicit Aliases(DeviceIndex index) : index_(index) {}

  // The same device tensor has the same alias, and views of one storage share the alias's.
  at::Tensor cpu(const at::Tensor& tensor, const char* name, Role role);

  // What the CPU's operator returned: an argument if it is one, a view of an argument's storage,
  // or a new tensor on the device. CPU tensors of the caller stay what they are.
  at::Tensor device(const at::Tensor& result);

  // Gives the arguments that were written the sizes and the memory that their aliases have now.
  void write_back();

  // The device tensors of the call, arguments and results.
  c10::SmallVector<Use, 8> uses() const;

  // For results that arrive late: called before the operator, and after write_back() and device().
  void remember();
  std::vector<Computed> computed() const;

  void keep(const at::Tensor& cpu_argument) { kept_.push_back(cpu_argument); }

 private:
  struct Storages {
    c10::Storage device;
    c10::Storage cpu;
    const void* data;  // of `cpu`, before the call
  };
  bool is_new(const c10::Storage& device) const;
  struct Tensors {
    at::Tensor device;
    at::Tensor cpu;
    bool is_result;
    bool written;
    at::Tensor before = {};  // what a written one contained, if remember() was called
  };
  struct Argument {
    const char* name;
    size_t tensor;  // its place
    Role role;
  };

  c10::Storage cpu_storage(const c10::Storage& storage);
  c10::Storage device_storage(const c10::Storage& storage);
  void take_memory(Storages& pair) const;

  DeviceIndex index_;
  size_t storages_before_ = 0;  // at remember()
  c10::SmallVector<Storages, 6> storages_;
  c10::SmallVector<Tensors, 6> tensors_;
  c10::SmallVector<Argument, 6> arguments_;
  c10::SmallVector<at::Tensor, 2> kept_;
};

// One tensor alone: over the same memory, which it keeps.
at::Tensor cpu_alias(const at::Tensor& tensor);

}  // namespace softnpu::npu
