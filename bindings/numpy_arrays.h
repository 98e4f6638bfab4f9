// SPDX-License-Identifier: Apache-2.0
// NumPy arrays, read from their own structures.
#pragma once

#include "array.h"

namespace softnpu::python {

// Of subclasses, too.
bool is_numpy_array(PyObject* object);
// Any NumPy scalar; they count as arrays of rank 0.
bool is_numpy_scalar(PyObject* object);

// Masked arrays are refused: their memory alone does not say which elements count.
Status check_unmasked(const char* name, PyObject* array);

Status read_numpy_array(const char* name, PyObject* object, Access access, Array& out);
Status read_numpy_scalar(const char* name, PyObject* object, Access access, Array& out);

// Whether an array holds real numbers of a type that the device does not have.
bool is_other_real(PyObject* array);

// In memory of the pool if `pooled`, else as NumPy allocates.
nb::object make_numpy_array(Tensor& tensor, bool pooled);

}  // namespace softnpu::python
