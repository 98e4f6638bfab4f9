// SPDX-License-Identifier: Apache-2.0
// PyTorch tensors, read through the table of C functions that PyTorch 2.10 and newer publishes.
#pragma once

#include <initializer_list>

#include "array.h"

namespace softnpu::python {

// The cached object at a path of names below torch; null while PyTorch is not imported, and if
// there is no such object.
nb::handle from_torch(std::initializer_list<nb::handle> path);

// Includes subclasses; false for all objects while PyTorch is not imported.
bool is_tensor(PyObject* object);
// Excludes subclasses.
bool is_plain_tensor(PyObject* object);

// If a tensor is lazily negated or conjugated, its memory does not hold its values: an input is
// replaced by its resolved form, which `out` keeps; an output is refused. An output that requires
// grad is refused, too.
Status read_tensor(const char* name, PyObject* object, Access access, Array& out);

// For PyTorch before 2.10, whose tensors are read through DLPack's Python protocol: it refuses
// tensors of a graph, and does not report that one is lazily negated.
Status settle_old_tensor(const char* name, Access access, Held& object);

// A new tensor with memory from PyTorch, which can be resized as usual; sets the data of `tensor`.
// Null if PyTorch returns none, or a mode has returned another kind of object.
nb::object make_tensor(Tensor& tensor);

// Why a tensor could not be described. A Python error is pending.
Status failed_tensor(const char* name, PyObject* object);

}  // namespace softnpu::python
