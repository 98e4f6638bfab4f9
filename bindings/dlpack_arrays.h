// SPDX-License-Identifier: Apache-2.0
// DLPack's descriptions of arrays.
#pragma once

#include "array.h"
#include "dlpack_abi.h"

namespace softnpu::python {

// While one lives, this thread describes arrays in the memory of any one device, without a look at
// their elements: the contract is checked, and somebody else computes.
class OneDevice {
 public:
  OneDevice();
  ~OneDevice();
  OneDevice(const OneDevice&) = delete;
  OneDevice& operator=(const OneDevice&) = delete;

  static bool is_alive();
};

Status check_device(const char* name, dlpack_abi::Device device);

// Fills in `out` from a description that something else keeps valid.
Status read_description(const char* name, const dlpack_abi::Description& description, Access access,
                        Array& out);
dlpack_abi::DataType to_dlpack(DType type);

}  // namespace softnpu::python
