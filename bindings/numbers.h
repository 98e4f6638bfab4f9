// SPDX-License-Identifier: Apache-2.0
// Python's numbers. `ran_code` is set, and never cleared, if an object's own code may have run,
// which can change anything, such as arrays that were read before.
#pragma once

#include <span>

#include "executor/operand.h"
#include "python_code.h"

namespace softnpu::python {

// Any real or complex number of Python or NumPy, or an array of rank 0, with its own type; any
// other object with float() as float64.
Status read_scalar(const char* name, PyObject* object, Scalar& out, bool& ran_code);

// Whether an object is a bool or an integer, which C accepts as a bool.
bool read_flag(PyObject* object, bool& out, bool& ran_code);

// A list, a tuple or any other sequence or iterator of integers.
Status read_int_array(const char* name, PyObject* object, IntArray& out, bool& ran_code);

// An integer that fits 64 bits.
Status read_integer(const char* name, PyObject* object, int64_t& out, bool& ran_code);

// A tuple or list of the members; null if the object is neither a sequence nor an iterator.
nb::object members_of(nb::handle object);
std::span<PyObject* const> items_of(nb::handle members);

// Converts the object to a plain int, float or bool, with its own code if necessary; null if that
// is impossible. A bool may be NumPy's, or an integer.
nb::object plain_int(nb::handle object);
nb::object plain_float(nb::handle object);
nb::object plain_bool(nb::handle object);

// A scalar as float64. Requires converts_to_float().
double to_double(const Scalar& scalar);

}  // namespace softnpu::python
