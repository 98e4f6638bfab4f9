// SPDX-License-Identifier: Apache-2.0
// Failures of the core as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include "base/status.h"

namespace softnpu::python {

// Looks the classes of softnpu.errors up, which calls this itself.
void load_errors();

// Raises the class of softnpu.errors that stands for the status and its cause.
[[noreturn]] void raise(const Status& status);

}  // namespace softnpu::python
