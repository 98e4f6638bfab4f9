// SPDX-License-Identifier: Apache-2.0
// softnpu._core: the table of contents of the Python bindings.
#include "sections.h"

NB_MODULE(_core, m) {
  using namespace softnpu::python;
  // Users do not need nanobind's report of objects that are alive at the interpreter's end.
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
