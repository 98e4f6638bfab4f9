// SPDX-License-Identifier: Apache-2.0
#include "python_code.h"

#include <string_view>

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

void Held::release_object() noexcept {
  PyObject* const object = release().ptr();
  call_or_stay([=] { Py_DECREF(object); });  // nanobind's dec_ref() must not throw
}

namespace {

std::string utf8(nb::handle text) {
  const nb::object bytes =
      ask([&] { return PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"); });
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

}  // namespace

std::string readable(nb::handle object) {
  const Held text = nb::steal(call_or_stay([&] { return PyObject_Str(object.ptr()); }));
  if (text.is_valid()) return utf8(text);
  // Interrupts and a lack of memory must be raised, not hidden in a message.
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
    nb::raise_python_error();
  forget_error();
  return class_name(object);
}

std::string class_name(nb::handle object) {
  const PyTypeObject* const type = Py_TYPE(object.ptr());
  const std::string_view whole = type->tp_name;
  const std::string name(whole.substr(whole.rfind('.') + 1));
  if (!PyType_HasFeature(Py_TYPE(object.ptr()), Py_TPFLAGS_HEAPTYPE)) return name;
  const Held module = find_attribute(object.type(), "__module__"_name);
  return module.is_valid() && PyUnicode_Check(module.ptr()) ? utf8(module) + "." + name : name;
}

}  // namespace softnpu::python
