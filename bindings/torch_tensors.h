// SPDX-License-Identifier: Apache-2.0
// What a PyTorch tensor is beyond its memory: lazily negated or conjugated, part of a graph,
// sparse.
#pragma once

#include "array.h"

namespace softnpu::python {

// False for any type while PyTorch is not imported.
bool is_torch_type(PyTypeObject* type);

// Makes sure that the memory of a tensor, which `out` describes, holds its values. Where it does
// not, an input is replaced by its resolved form, which `out` keeps; an output is refused, as is
// one that requires grad.
Status settle_tensor(const char* name, Access access, Array& out, PyObject*& object);

// The same for PyTorch before 2.10, whose tensors are exported like any library's arrays: it
// refuses those of a graph, and forgets that one is lazily negated.
Status settle_old_tensor(const char* name, Access access, Held& object);

// A new tensor with memory from PyTorch, so that it can be resized as any other; sets the data of
// `tensor`. Null where PyTorch gives none, or a mode has made something else of it.
nb::object make_tensor(Tensor& tensor);

// Why a tensor could not be described; a Python error is pending.
Status failed_tensor(const char* name, PyObject* object);

}  // namespace softnpu::python
