// SPDX-License-Identifier: Apache-2.0
// Calls of softnpu's functions that belong to PyTorch's autograd, its transforms or its modes:
// softnpu.torch, once imported, makes calls of its operators of them.
#pragma once

#include <span>

#include "torch_symbols.h"
#include "torch_tensors.h"

namespace softnpu::python {

// Whether PyTorch sees calls on plain tensors, too: a dispatch mode, a tracer, autocast, or a level
// of forward mode is active.
bool torch_watches();

// Whether a call may be PyTorch's business: one with a tensor that requires grad, or of a subclass,
// which may have no memory, or with any tensor while somebody watches.
inline bool concerns_torch(std::span<const nb::handle> arguments) {
  bool any = false;
  for (const nb::handle object : arguments) {
    // Python's and NumPy's own types are none that were made while the program runs.
    if (!PyType_HasFeature(Py_TYPE(object.ptr()), Py_TPFLAGS_HEAPTYPE)) continue;
    if (!is_tensor(object.ptr())) continue;
    any = true;
    if (!is_plain_tensor(object.ptr()) || requires_grad(object)) return true;
  }
  return any && torch_watches();
}

// Counts a write to a tensor before it happens, so that autograd recognises values that it saved
// and that are gone. PyTorch refuses tensors of inference mode here.
void announce_write(nb::handle tensor);

// What softnpu.torch makes of a call; null where it has no business with it. It is imported for the
// first such call. Where it cannot be, a call that autograd would record is worth a warning, once.
nb::object take_over(const char* function, std::span<const nb::handle> arguments);

}  // namespace softnpu::python
