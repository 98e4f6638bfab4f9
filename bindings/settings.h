// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace softnpu::python {

void bind_settings(nanobind::module_& m);

}  // namespace softnpu::python
