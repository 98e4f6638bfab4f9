// SPDX-License-Identifier: Apache-2.0
// The environment's settings of the devices, and of the line that announces them.
#pragma once

#include <cstdint>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

// SOFTNPU_DEVICES as the first call finds it; 1 if it is unset or not a number of devices.
SOFTNPU_EXPORT int32_t device_count();

// A failure if SOFTNPU_DEVICES is not a number of devices. aclInit reports it.
SOFTNPU_EXPORT Status device_count_status();

// False when SOFTNPU_BANNER is 0.
bool wants_banner();

}  // namespace softnpu::runtime
