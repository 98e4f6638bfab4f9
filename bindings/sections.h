// SPDX-License-Identifier: Apache-2.0
// The sections of softnpu._core, each in the file that defines the function.
#pragma once

#include <nanobind/nanobind.h>

namespace softnpu::python {

void bind_settings(nanobind::module_& m);
void bind_autograd(nanobind::module_& m);
void bind_checks(nanobind::module_& m);
void bind_operators(nanobind::module_& m);
void bind_described(nanobind::module_& m);
void bind_foreign_memory(nanobind::module_& m);

// The documented C functions.
void bind_acl_runtime(nanobind::module_& m);
void bind_acl_memory(nanobind::module_& m);
void bind_acl_virtual_memory(nanobind::module_& m);
void bind_acl_callback(nanobind::module_& m);
void bind_aclnn_descriptors(nanobind::module_& m);
void bind_aclnn_executors(nanobind::module_& m);

}  // namespace softnpu::python
