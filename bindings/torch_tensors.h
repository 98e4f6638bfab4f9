// SPDX-License-Identifier: Apache-2.0
// PyTorch tensors, read through the table of C functions that PyTorch 2.10 and newer publishes.
#pragma once

#include <initializer_list>

#include "array.h"

namespace softnpu::python {

// What is at the end of a path of names below torch, kept; null while PyTorch is not imported, and
// where it is not there.
nb::handle from_torch(std::initializer_list<nb::handle> path);

// Of subclasses, too; false for all objects while PyTorch is not imported.
bool is_tensor(PyObject* object);
// Not of subclasses.
bool is_plain_tensor(PyObject* object);

// Where memory does not hold a tensor's values, because it is lazily negated or conjugated, an
// input is replaced by its resolved form, which `out` keeps. An output is refused then, and where
// it requires grad.
Status read_tensor(const char* name, PyObject* object, Access access, Array& out);

// For PyTorch before 2.10, whose tensors are exported like any library's arrays: it refuses those
// of a graph, and forgets that one is lazily negated.
Status settle_old_tensor(const char* name, Access access, Held& object);

// A new tensor with memory from PyTorch, so that it can be resized as any other; sets the data of
// `tensor`. Null where PyTorch gives none, or a mode has made something else of it.
nb::object make_tensor(Tensor& tensor);

// Why a tensor could not be described; a Python error is pending.
Status failed_tensor(const char* name, PyObject* object);

}  // namespace softnpu::python
