// SPDX-License-Identifier: Apache-2.0
// The number of devices, from the environment.
#pragma once

#include <cstdint>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

// The value of SOFTNPU_DEVICES at the first call; 1 if it is unset or invalid.
SOFTNPU_EXPORT int32_t device_count();

// Fails if SOFTNPU_DEVICES is invalid. aclInit reports this.
SOFTNPU_EXPORT Status device_count_status();

}  // namespace softnpu::runtime
