// SPDX-License-Identifier: Apache-2.0
// Memory for results of other libraries' arrays, handed over through DLPack.
#pragma once

#include "array.h"

namespace softnpu::python {

// An object with __dlpack__ and __dlpack_device__; sets tensor.data.
nb::object make_foreign_memory(Tensor& tensor);

}  // namespace softnpu::python
