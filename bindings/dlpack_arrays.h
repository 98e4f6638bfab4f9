// SPDX-License-Identifier: Apache-2.0
// DLPack's descriptions of arrays.
#pragma once

#include "array.h"
#include "dlpack_abi.h"

namespace softnpu::python {

Status check_device(const char* name, dlpack_abi::Device device);

// Fills in `out` from a description that something else keeps valid.
Status read_description(const char* name, const dlpack_abi::Description& description, Access access,
                        Array& out);
dlpack_abi::DataType to_dlpack(DType type);

}  // namespace softnpu::python
