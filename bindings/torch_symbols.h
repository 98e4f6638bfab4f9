// SPDX-License-Identifier: Apache-2.0
// Queries of PyTorch's libraries that would be slower through Python. The functions are looked up
// at run time, because nothing is compiled against PyTorch. If one is missing, Python is used.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace softnpu::python {

namespace nb = nanobind;

// The dispatch keys that a thread adds to and removes from those of a call's tensors. Dispatch
// modes, tracers and autocast, which observe calls on plain tensors, change them.
struct DispatchKeys {
  uint64_t included, excluded;
  bool operator==(const DispatchKeys&) const = default;
};

// The keys of this thread; null if libc10 does not export them.
const DispatchKeys* dispatch_keys();

bool requires_grad(nb::handle tensor);

enum class Write { counted, refused, unknown };

// Counts a write to a tensor. Refused: the tensor was made in inference mode, which is not active.
// Unknown: the function is missing, or the tensor has a subclass.
Write count_write(nb::handle tensor);

}  // namespace softnpu::python
