// SPDX-License-Identifier: Apache-2.0
// softnpu._core: the table of contents of what Python sees of the device.
#include "sections.h"

NB_MODULE(_core, m) {
  using namespace softnpu::python;
  // Users need not know what is still alive when the interpreter ends.
  nanobind::set_leak_warnings(false);
  m.doc() = "The device of softnpu. Private: use softnpu, softnpu.acl and softnpu.aclnn.";
  bind_settings(m);
  bind_autograd(m);
  bind_checks(m);
  bind_operators(m);
  bind_described(m);
  bind_foreign_memory(m);
  bind_acl_runtime(m);
  bind_acl_memory(m);
  bind_acl_virtual_memory(m);
  bind_acl_callback(m);
  bind_aclnn_descriptors(m);
  bind_aclnn_executors(m);
}
