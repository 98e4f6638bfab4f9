// SPDX-License-Identifier: Apache-2.0
#include "python_code.h"

namespace softnpu::python {

nb::object attribute(nb::handle object, nb::handle name) {
  return ask([&] { return PyObject_GetAttr(object.ptr(), name.ptr()); });
}

nb::object find_attribute(nb::handle object, nb::handle name) {
  PyObject* const found = call_or_stay([&] { return PyObject_GetAttr(object.ptr(), name.ptr()); });
  if (found == nullptr) forget_error();
  return nb::steal(found);
}

bool has_attribute(nb::handle object, nb::handle name) {
  return call_or_stay([&] { return PyObject_HasAttr(object.ptr(), name.ptr()); }) != 0;
}

nb::object import_module(const char* name) {
  return ask([=] { return PyImport_ImportModule(name); });
}

nb::object take_error() {
#if PY_VERSION_HEX >= 0x030C0000
  return nb::steal(PyErr_GetRaisedException());
#else
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  call_or_stay([&] { PyErr_NormalizeException(&type, &value, &traceback); });
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(traceback);
  Py_DECREF(type);
  return nb::steal(value);
#endif
}

void forget_error() {
  call_or_stay([] { PyErr_Clear(); });
}

void Held::let_go() noexcept {
  PyObject* const object = release().ptr();
  call_or_stay([=] { Py_DECREF(object); });  // nanobind's dec_ref() must not throw
}

}  // namespace softnpu::python
