// SPDX-License-Identifier: Apache-2.0
// Answers of PyTorch's libraries that take longer through Python. The functions are looked up at
// run time, as nothing is compiled against PyTorch. Where one is missing, Python is asked.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace softnpu::python {

namespace nb = nanobind;

// The keys that a thread adds to, and removes from, those of a call's tensors. Whatever sees calls
// on plain tensors changes them: dispatch modes, tracers, autocast.
struct DispatchKeys {
  uint64_t included, excluded;
  bool operator==(const DispatchKeys&) const = default;
};

// Those of this thread; null where libc10 does not export them.
const DispatchKeys* dispatch_keys();

bool requires_grad(nb::handle tensor);

enum class Write { counted, refused, unknown };

// Counts a write to a tensor. Refused: it was made in inference mode, which is not active. Unknown:
// the function is missing, or the tensor is of a subclass.
Write count_write(nb::handle tensor);

}  // namespace softnpu::python
