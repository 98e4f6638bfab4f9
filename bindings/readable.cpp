// SPDX-License-Identifier: Apache-2.0
#include "readable.h"

#include <string_view>

#include "names.h"
#include "python_code.h"

namespace softnpu::python {
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
  // Running out of memory and interrupts are no business of a message.
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
