// SPDX-License-Identifier: Apache-2.0
// Arrays of any other library, through the Python side of DLPack.
#pragma once

#include "array.h"

namespace softnpu::python {

// Whether the type has __dlpack__.
bool is_foreign_array(PyObject* object);

Status read_foreign_array(const char* name, PyObject* object, Access access, Array& out);

// A new object with __dlpack__ and __dlpack_device__ and memory from this module; sets tensor.data.
nb::object make_foreign_memory(Tensor& tensor);

// The same, for a library whose from_dlpack takes over the object once it is filled.
Status make_foreign_array(const char* name, PyObject* like, Tensor& tensor, NewArray& out);

}  // namespace softnpu::python
