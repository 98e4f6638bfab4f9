// SPDX-License-Identifier: Apache-2.0
// Calls of softnpu's functions that involve PyTorch's autograd, transforms or modes. softnpu.torch,
// once imported, turns them into calls of its operators.
#pragma once

#include <span>

#include "torch_symbols.h"
#include "torch_tensors.h"

namespace softnpu::python {

// Whether PyTorch observes calls on plain tensors, too: a dispatch mode, a tracer, autocast, or a
// level of forward mode is active.
bool torch_watches();

// Whether PyTorch may have to handle a call: a tensor requires grad or has a subclass, which may
// have no memory, or PyTorch observes all calls.
inline bool concerns_torch(std::span<const nb::handle> arguments) {
  bool any = false;
  for (const nb::handle object : arguments) {
    // Python's and NumPy's own types are static; subclasses are heap types.
    if (!PyType_HasFeature(Py_TYPE(object.ptr()), Py_TPFLAGS_HEAPTYPE)) continue;
    if (!is_tensor(object.ptr())) continue;
    any = true;
    if (!is_plain_tensor(object.ptr()) || requires_grad(object)) return true;
  }
  return any && torch_watches();
}

// Counts a write to a tensor before it happens, so that autograd detects that a saved value was
// overwritten. PyTorch refuses tensors of inference mode here.
void announce_write(nb::handle tensor);

// The result of softnpu.torch for a call; null if the call does not concern it. Imports
// softnpu.torch for the first such call. If that fails, warns once if autograd would record the
// call.
nb::object take_over(const char* function, std::span<const nb::handle> arguments);

}  // namespace softnpu::python
