// SPDX-License-Identifier: Apache-2.0
#include "numbers.h"

#include <cstring>

#include "array.h"
#include "foreign_arrays.h"
#include "numpy_arrays.h"
#include "readable.h"
#include "sequence.h"

namespace softnpu::python {
namespace {

template <class T>
Status set(Scalar& scalar, DType type, const T& value) {
  scalar.dtype = type;
  std::memcpy(scalar.bytes.data(), &value, sizeof value);
  return {};
}

Status read_long(const char* name, PyObject* object, Scalar& out) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    return set(out, DType::i64, int64_t{value});
  }
  const double large = PyLong_AsDouble(object);
  if (large == -1.0 && PyErr_Occurred()) return failure_from_python(name, " is out of range: ");
  return set(out, DType::f64, large);
}

[[gnu::cold]] Status no_number(const char* name, PyObject* object) {
  return fail(kParamInvalid, name, " is of class ", class_name(object), "; expected a number");
}

// What float() makes of an object, or operator.index() where it has no float().
Status convert(const char* name, PyObject* object, Scalar& out) {
  const PyNumberMethods* methods = Py_TYPE(object)->tp_as_number;
  const bool has_float = methods != nullptr && methods->nb_float != nullptr;
  if (!has_float && PyIndex_Check(object)) {
    const Held whole = nb::steal(call_or_stay([=] { return PyNumber_Index(object); }));
    if (!whole.is_valid()) return failure_from_python(name, " is no number: ");
    return read_long(name, whole.ptr(), out);
  }
  if (!has_float) return no_number(name, object);
  const double value = call_or_stay([=] { return PyFloat_AsDouble(object); });
  if (value == -1.0 && PyErr_Occurred()) return failure_from_python(name, " is no number: ");
  return set(out, DType::f64, value);
}

Status read_element(const char* name, const Tensor& t, Scalar& out) {
  if (t.rank() != 0)
    return fail(kParamInvalid, name, " is an array of shape ", t.sizes, "; expected a number");
  if (t.data == nullptr) return fail(kParamInvalid, name, " has no data; expected a number");
  out.dtype = t.dtype;
  std::memcpy(out.bytes.data(), t.origin(), static_cast<size_t>(item_size(t.dtype)));
  return {};
}

// Texts and times have float(), too, as every scalar of NumPy's.
Status read_numpy_number(const char* name, PyObject* object, Scalar& out) {
  Array array;
  if (read_numpy_scalar(name, object, Access::read, array).ok())
    return read_element(name, array.tensor, out);
  return is_other_real(array.keeper.ptr()) ? convert(name, object, out) : no_number(name, object);
}

// Arrays of rank 0.
Status read_array_scalar(const char* name, PyObject* object, Scalar& out) {
  Array array;
  RETURN_IF_FAILED(read_array(name, object, Access::read, array));
  return read_element(name, array.tensor, out);
}

}  // namespace

Status read_scalar(const char* name, PyObject* object, Scalar& out, bool& ran_code) {
  if (PyFloat_Check(object)) {
    return set(out, DType::f64, PyFloat_AS_DOUBLE(object));
  }
  if (PyBool_Check(object)) {
    return set(out, DType::boolean, uint8_t{object == Py_True});
  }
  if (PyLong_Check(object)) return read_long(name, object, out);
  if (PyComplex_Check(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    return set(out, DType::c128, value);
  }
  ran_code = true;
  // These have float(), too, but say more when they are read as what they are.
  if (is_numpy_scalar(object)) return read_numpy_number(name, object, out);
  if (is_numpy_array(object) || is_foreign_array(object))
    return read_array_scalar(name, object, out);
  return convert(name, object, out);
}

bool read_flag(PyObject* object, bool& out, bool& ran_code) {
  out = object == Py_True;
  if (PyBool_Check(object)) return true;
  Scalar scalar;
  if (!read_scalar("", object, scalar, ran_code).ok()) return false;
  if (!is_integer(scalar.dtype) && scalar.dtype != DType::boolean) return false;
  out = to_float(scalar) != 0;
  return true;
}

Status read_integer(const char* name, PyObject* object, int64_t& out, bool& ran_code) {
  if (!PyIndex_Check(object))
    return fail(kParamInvalid, name, " is of class ", class_name(object), "; expected an integer");
  if (PyLong_Check(object)) {
    out = PyLong_AsSsize_t(object);
  } else {
    ran_code = true;
    out = call_or_stay([=] { return PyNumber_AsSsize_t(object, PyExc_OverflowError); });
  }
  if (out == -1 && PyErr_Occurred()) return failure_from_python(name, " is no 64-bit integer: ");
  return {};
}

Status read_int_array(const char* name, PyObject* object, IntArray& out, bool& ran_code) {
  if (!PyList_Check(object) && !PyTuple_Check(object)) ran_code = true;
  const Held members = members_of(object);
  if (!members.is_valid())
    return fail(kParamInvalid, name, " is of class ", class_name(object),
                "; expected a sequence of integers");
  const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(members.ptr()));
  reset(out, count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(members.ptr(), static_cast<Py_ssize_t>(i));
    Status status = read_integer(name, item, out[i], ran_code);
    if (!status.ok()) return fail(status.code(), "element ", i, " of ", status.message());
  }
  return {};
}

double to_double(const Scalar& scalar) {
  switch (scalar.dtype) {
    case DType::f64:
      return value_of<double>(scalar);
    case DType::i32:
      return value_of<int32_t>(scalar);
    case DType::u32:
      return value_of<uint32_t>(scalar);
    case DType::i64:
      return static_cast<double>(value_of<int64_t>(scalar));
    case DType::u64:
      return static_cast<double>(value_of<uint64_t>(scalar));
    default:
      return to_float(scalar);  // the types whose values float32 holds exactly
  }
}

}  // namespace softnpu::python
