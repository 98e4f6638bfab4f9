// SPDX-License-Identifier: Apache-2.0
// Devices: which are set, how often, and their default contexts.
#pragma once

#include <cstdint>

#include "base/export.h"
#include "base/status.h"
#include "runtime/deadline.h"

namespace softnpu::runtime {

SOFTNPU_EXPORT Status check_device(int32_t device);
SOFTNPU_EXPORT Status set_device(int32_t device);
enum class Reset : uint8_t { once, all, by_force };
SOFTNPU_EXPORT Status reset_device(int32_t device, Reset how);
// Whether the calling thread may release what is left of all devices. No other thread can change
// the answer.
Status check_reset_of_all_devices();
// Releases it. Failures that no call has reported go to stderr.
void reset_all_devices();

// Waits for all streams of the current device.
SOFTNPU_EXPORT Status wait_for_device(Deadline deadline);
// The same, and reports what failed in them.
SOFTNPU_EXPORT Status synchronize_device(Deadline deadline);

}  // namespace softnpu::runtime
