// SPDX-License-Identifier: Apache-2.0
// Python's numbers. `ran_code` is set, never cleared, where an object's own code may have run: it
// can have changed anything, arrays that were read before above all.
#pragma once

#include <span>

#include "executor/operand.h"
#include "python_code.h"

namespace softnpu::python {

// Any real or complex number of Python or NumPy, or an array of rank 0, with the type it has; any
// other object that has float() as float64.
Status read_scalar(const char* name, PyObject* object, Scalar& out, bool& ran_code);

// Whether an object is a bool, or an integer, which C takes for one.
bool read_flag(PyObject* object, bool& out, bool& ran_code);

// A list, a tuple or any other sequence or iterator of integers.
Status read_int_array(const char* name, PyObject* object, IntArray& out, bool& ran_code);

// An integer that fits 64 bits.
Status read_integer(const char* name, PyObject* object, int64_t& out, bool& ran_code);

// A tuple or list of the members; null if the object is neither a sequence nor an iterator.
nb::object members_of(nb::handle object);
std::span<PyObject* const> items_of(nb::handle members);

// The object as a plain int, float or bool: what it is already, or what its own code makes of it;
// null if it is not such a number. A bool may be NumPy's, or an integer.
nb::object plain_int(nb::handle object);
nb::object plain_float(nb::handle object);
nb::object plain_bool(nb::handle object);

// A scalar as float64. Requires converts_to_float().
double to_double(const Scalar& scalar);

}  // namespace softnpu::python
