// SPDX-License-Identifier: Apache-2.0
// softnpu._core: the table of contents of what Python sees of the device.
#include <nanobind/nanobind.h>

#include "foreign_memory.h"
#include "operators.h"
#include "settings.h"

NB_MODULE(_core, m) {
  m.doc() = "The device of softnpu. Private: use softnpu, softnpu.acl and softnpu.aclnn.";
  softnpu::python::bind_settings(m);
  softnpu::python::bind_operators(m);
  softnpu::python::bind_foreign_memory(m);
}
