// SPDX-License-Identifier: Apache-2.0
// NumPy arrays, read from their own structures.
#pragma once

#include "array.h"

namespace softnpu::python {

// Includes subclasses.
bool is_numpy_array(PyObject* object);
// Any NumPy scalar. Scalars count as arrays of rank 0.
bool is_numpy_scalar(PyObject* object);

// Masked arrays are refused, because their data does not include the mask.
Status check_unmasked(const char* name, PyObject* array);

Status read_numpy_array(const char* name, PyObject* object, Access access, Array& out);
Status read_numpy_scalar(const char* name, PyObject* object, Access access, Array& out);

// Whether an array has real numbers of a type that the device does not support.
bool is_other_real(PyObject* array);

// Allocated from the pool if `pooled`, otherwise by NumPy.
nb::object make_numpy_array(Tensor& tensor, bool pooled);

}  // namespace softnpu::python
