// SPDX-License-Identifier: Apache-2.0
// The hardware properties of the emulated product.
#pragma once

#include <cstdint>

#include "base/export.h"

namespace softnpu::runtime {

// All are above 0. Properties that are not published are this machine's: its threads and its cache.
struct DeviceInfo {
  int64_t ai_cores;
  int64_t vector_cores;
  int64_t l2_bytes;
};
SOFTNPU_EXPORT DeviceInfo device_info();

}  // namespace softnpu::runtime
