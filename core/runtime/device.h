// SPDX-License-Identifier: Apache-2.0
// The devices, how often each is set, and their default contexts.
#pragma once

#include <cstdint>

#include "base/export.h"
#include "base/status.h"
#include "runtime/deadline.h"

namespace softnpu::runtime {

// Fails also if a setting of what is emulated is invalid.
SOFTNPU_EXPORT Status check_device(int32_t device);
SOFTNPU_EXPORT Status set_device(int32_t device);
enum class Reset : uint8_t { once, all, by_force };
SOFTNPU_EXPORT Status reset_device(int32_t device, Reset how);
// Fails if the calling thread must not release the devices. Other threads cannot change the result.
Status check_reset_of_all_devices();
// Releases all devices. Failures that no call has reported are written to stderr.
void reset_all_devices();

SOFTNPU_EXPORT Status wait_for_device(Deadline deadline);
// For the work of every device, since small allocations of several can share a page.
Status wait_for_all_devices();
// The same, and reports the failures of these streams.
SOFTNPU_EXPORT Status synchronize_device(Deadline deadline);

}  // namespace softnpu::runtime
