// SPDX-License-Identifier: Apache-2.0
#include "raise.h"

#include "python_code.h"

namespace softnpu::python {

namespace {

// Never released: objects that are destroyed with the interpreter may still make invalid calls.
PyObject *make_error = nullptr, *make_index_error = nullptr, *make_plain_error = nullptr;

// Text from a caller (a path, the class of an array) may not be UTF-8.
nb::object decoded(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

[[noreturn]] void raise_object(nb::handle error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  nb::raise_python_error();
}

}  // namespace

void load_errors() {
  const nb::object errors = import_module("softnpu.errors");
  const nb::object any = attribute(errors, "error_from_status"_name);
  const nb::object index = attribute(errors, "index_error_from_status"_name);
  const nb::object plain = attribute(errors, "plain_error"_name);
  Py_XSETREF(make_error, any.inc_ref().ptr());
  Py_XSETREF(make_index_error, index.inc_ref().ptr());
  Py_XSETREF(make_plain_error, plain.inc_ref().ptr());
}

void raise(const Status& status) {
  if (make_error == nullptr) load_errors();  // softnpu itself has not been imported
  const nb::handle make = status.cause() == Cause::index ? make_index_error : make_error;
  raise_object(
      invoke(make, nb::int_(status.code()), decoded(status.message()), decoded(status.rule())));
}

void raise(PyObject* error_class, RuleId rule, std::string_view message) {
  if (make_plain_error == nullptr) load_errors();
  raise_object(invoke(nb::handle(make_plain_error), nb::handle(error_class), decoded(message),
                      decoded(rule.name)));
}

}  // namespace softnpu::python
