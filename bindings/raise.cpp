// SPDX-License-Identifier: Apache-2.0
#include "raise.h"

namespace softnpu::python {

namespace nb = nanobind;

void raise(const Status& status) {
  const bool by_index = status.cause() == Cause::index;
  const nb::object make = nb::module_::import_("softnpu.errors")
                              .attr(by_index ? "index_error_from_status" : "error_from_status");
  // What a caller named (a path, an array's class) need not be UTF-8.
  const std::string& message = status.message();
  PyObject* decoded =
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace");
  const nb::object error = make(status.code(), nb::steal(decoded));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  nb::raise_python_error();
}

}  // namespace softnpu::python
