// SPDX-License-Identifier: Apache-2.0
// DLPack's descriptions of arrays.
#pragma once

#include "array.h"
#include "dlpack_abi.h"

namespace softnpu::python {

// While one lives, this thread accepts arrays in the memory of any one device and does not access
// their elements: the contract is checked, but another library computes.
class OneDevice {
 public:
  OneDevice();
  ~OneDevice();
  OneDevice(const OneDevice&) = delete;
  OneDevice& operator=(const OneDevice&) = delete;

  static bool is_alive();
};

Status check_device(const char* name, dlpack_abi::Device device);

// Fills in `out` from a description that the caller keeps valid.
Status read_description(const char* name, const dlpack_abi::Description& description, Access access,
                        Array& out);
dlpack_abi::DataType to_dlpack(DType type);

}  // namespace softnpu::python
