// SPDX-License-Identifier: Apache-2.0
// Memory for results of other libraries' arrays, handed over through DLPack.
#pragma once

#include "array.h"
#include "dlpack_abi.h"

namespace softnpu::python {

// An object with __dlpack__ and __dlpack_device__; sets tensor.data.
nb::object make_foreign_memory(Tensor& tensor);

// The same as what an importer owns and calls the deleter of, on any thread; sets tensor.data.
dlpack_abi::ManagedVersioned* make_managed_memory(Tensor& tensor);

}  // namespace softnpu::python
