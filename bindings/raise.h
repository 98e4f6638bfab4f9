// SPDX-License-Identifier: Apache-2.0
// Failures of the core as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "base/status.h"

namespace softnpu::python {

// Looks up the classes of softnpu.errors, which calls this itself.
void load_errors();

// Raises the class of softnpu.errors for the status and its cause.
[[noreturn]] void raise(const Status& status);

// Raises a class of Python's own, for calls that do not reach the device.
[[noreturn]] void raise(PyObject* error_class, RuleId rule, std::string_view message);

}  // namespace softnpu::python
