// SPDX-License-Identifier: Apache-2.0
#include "numbers.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "array.h"
#include "foreign_arrays.h"
#include "numpy_arrays.h"

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
  return fail("argument-class"_rule, kParamInvalid, name, " is of class ", class_name(object),
              "; expected a number");
}

// Calls float() on an object, or operator.index() if it has no float().
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
    return fail("not-a-number"_rule, kParamInvalid, name, " is an array of shape ", t.sizes,
                "; expected a number");
  if (t.data == nullptr)
    return fail("not-a-number"_rule, kParamInvalid, name, " has no data; expected a number");
  out.dtype = t.dtype;
  std::memcpy(out.bytes.data(), t.origin(), static_cast<size_t>(item_size(t.dtype)));
  return {};
}

// Excludes strings and times of NumPy, which have float(), too, as all NumPy scalars.
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
  // These also have float(), but are read with their own type.
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
    return fail("argument-class"_rule, kParamInvalid, name, " is of class ", class_name(object),
                "; expected an integer");
  if (PyLong_Check(object)) {
    out = PyLong_AsSsize_t(object);
  } else {
    ran_code = true;
    if (is_numpy_array(object)) RETURN_IF_FAILED(check_unmasked(name, object));
    out = call_or_stay([=] { return PyNumber_AsSsize_t(object, PyExc_OverflowError); });
  }
  if (out == -1 && PyErr_Occurred()) return failure_from_python(name, " is no 64-bit integer: ");
  return {};
}

std::span<PyObject* const> items_of(nb::handle members) {
  return {PySequence_Fast_ITEMS(members.ptr()),
          static_cast<size_t>(PySequence_Fast_GET_SIZE(members.ptr()))};
}

// Copies a list before it is read, because an element's __index__ may change the list, unless no
// element has such code.
nb::object members_of(nb::handle object) {
  PyObject* const given = object.ptr();
  const auto has_no_code = [](PyObject* item) {
    return PyLong_CheckExact(item) || PyFloat_CheckExact(item) || PyBool_Check(item) ||
           item == Py_None;
  };
  if (PyTuple_CheckExact(given) ||
      (PyList_CheckExact(given) && std::ranges::all_of(items_of(object), has_no_code)))
    return nb::borrow(object);
  // Sets and dicts are not sequences. Tensors fail PySequence_Check(), but are arrays.
  if (PyUnicode_Check(given) || PyBytes_Check(given)) return {};
  if (!PySequence_Check(given) && !PyIter_Check(given) &&
      !has_attribute(object.type(), "__dlpack__"_name))
    return {};
  PyObject* const copy = call_or_stay([=] { return PySequence_Tuple(given); });
  if (copy == nullptr) {
    const bool no_memory = PyErr_ExceptionMatches(PyExc_MemoryError);
    forget_error();
    if (no_memory) throw std::bad_alloc();
  }
  return nb::steal(copy);
}

Status read_int_array(const char* name, PyObject* object, IntArray& out, bool& ran_code) {
  if (!PyList_Check(object) && !PyTuple_Check(object)) ran_code = true;
  const Held members = members_of(object);
  if (!members.is_valid())
    return fail("argument-class"_rule, kParamInvalid, name, " is of class ", class_name(object),
                "; expected a sequence of integers");
  const std::span items = items_of(members);
  out = Dims(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    Status status = read_integer(name, items[i], out[i], ran_code);
    if (!status.ok()) return reword(status, "element ", i, " of ", status.message());
  }
  return {};
}

nb::object plain_int(nb::handle object) {
  if (PyLong_Check(object.ptr())) return nb::borrow(object);
  if (!PyIndex_Check(object.ptr())) return {};
  PyObject* const made = call_or_stay([=] { return PyNumber_Index(object.ptr()); });
  if (made == nullptr) forget_error();
  return nb::steal(made);
}

nb::object plain_float(nb::handle object) {
  const double made = call_or_stay([=] { return PyFloat_AsDouble(object.ptr()); });
  if (made != -1.0 || !PyErr_Occurred()) return nb::steal(PyFloat_FromDouble(made));
  forget_error();
  return {};
}

nb::object plain_bool(nb::handle object) {
  bool value = false, ran_code = false;
  return read_flag(object.ptr(), value, ran_code) ? nb::bool_(value) : nb::object();
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
      return to_float(scalar);  // types whose values float32 holds exactly
  }
}

}  // namespace softnpu::python
