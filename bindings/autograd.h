// SPDX-License-Identifier: Apache-2.0
// Calls of softnpu's functions that belong to PyTorch's autograd, its transforms or its modes:
// softnpu.torch, once imported, makes calls of its operators of them.
#pragma once

#include <span>

#include "torch_tensors.h"

namespace softnpu::python {

// Whether a call with this argument may be PyTorch's business: a tensor that requires grad, or of a
// subclass, which may have no memory.
inline bool concerns_torch(nb::handle object) {
  // Python's and NumPy's own types are none that were made while the program runs.
  if (!PyType_HasFeature(Py_TYPE(object.ptr()), Py_TPFLAGS_HEAPTYPE)) return false;
  return is_tensor(object.ptr()) &&
         (!is_plain_tensor(object.ptr()) || attribute(object, "requires_grad"_name).is(Py_True));
}

// What softnpu.torch makes of a call; null where it has no business with it. Where softnpu.torch
// was not imported, a call that autograd would record is worth a warning, once.
nb::object take_over(const char* function, std::span<const nb::handle> arguments);

}  // namespace softnpu::python
