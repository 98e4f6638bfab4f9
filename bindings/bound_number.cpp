// SPDX-License-Identifier: Apache-2.0
#include "bound_number.h"

#include "numbers.h"

namespace softnpu::python {

nb::object plain_int(nb::handle object) {
  if (PyLong_Check(object.ptr()) || !PyIndex_Check(object.ptr())) return nb::borrow(object);
  PyObject* const made = call_or_stay([=] { return PyNumber_Index(object.ptr()); });
  if (made == nullptr) forget_error();
  return nb::steal(made);
}

nb::object plain_float(nb::handle object) {
  if (PyFloat_Check(object.ptr()) || PyLong_CheckExact(object.ptr())) return nb::borrow(object);
  const double made = call_or_stay([=] { return PyFloat_AsDouble(object.ptr()); });
  if (made == -1.0 && PyErr_Occurred()) {
    forget_error();
    return {};
  }
  return nb::steal(PyFloat_FromDouble(made));
}

nb::object plain_bool(nb::handle object) {
  bool value = false, ran_code = false;
  return read_flag(object.ptr(), value, ran_code) ? nb::bool_(value) : nb::object();
}

}  // namespace softnpu::python
