// SPDX-License-Identifier: Apache-2.0
// Arrays of any other library, through the Python side of DLPack.
#pragma once

#include "array.h"

namespace softnpu::python {

// Whether the type has __dlpack__.
bool is_foreign_array(PyObject* object);

Status read_foreign_array(const char* name, PyObject* object, Access access, Array& out);

// An object with __dlpack__ and __dlpack_device__ that has memory of this module; sets tensor.data.
nb::object make_foreign_memory(Tensor& tensor);

// Such an object, which the library's from_dlpack takes over once it is filled.
Status make_foreign_array(const char* name, PyObject* like, Tensor& tensor, NewArray& out);

}  // namespace softnpu::python
