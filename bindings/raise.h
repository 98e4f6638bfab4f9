// SPDX-License-Identifier: Apache-2.0
// Failures of the core as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include "base/status.h"

namespace softnpu::python {

// Raises the class of softnpu.errors that stands for the status.
[[noreturn]] void raise(const Status& status);
// The same, as an IndexError too.
[[noreturn]] void raise_index_error(const Status& status);

// Runs the body of a function that is called through Python's C interface: null and a Python error
// where it throws.
template <class Body>
PyObject* guarded(Body&& body) noexcept {
  try {
    return body().release().ptr();
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_SystemError, error.what());
  }
  return nullptr;
}

}  // namespace softnpu::python
