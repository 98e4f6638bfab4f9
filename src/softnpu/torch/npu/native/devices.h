// SPDX-License-Identifier: Apache-2.0
// The devices that a program sees, and the context of softnpu's runtime behind each.
#pragma once

#include <acl/acl.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>

namespace softnpu::npu {

using c10::DeviceIndex;

constexpr size_t kMostDevices = 64;  // a DeviceIndex has 8 bits
constexpr auto kNpu = c10::DeviceType::PrivateUse1;

// Raises what a function of the runtime returned, with its message.
void check(aclError status, const char* function);

// Those that ASCEND_RT_VISIBLE_DEVICES names, or all of SOFTNPU_DEVICES.
DeviceIndex device_count();

// Of the calling thread.
DeviceIndex current_device();
void set_device(DeviceIndex index);

DeviceIndex checked_device(DeviceIndex index);

// Makes the runtime's context of a device current on the calling thread, and sets the device up
// when it is used for the first time.
void enter(DeviceIndex index);
bool is_set_up(DeviceIndex index);

// Lets autograd compute on every device, even if it started before they were registered.
void give_autograd_threads();

// Whether this process was forked from one that had set a device up.
bool is_bad_fork();

class OnDevice {
 public:
  explicit OnDevice(DeviceIndex index);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  DeviceIndex before_;
};

}  // namespace softnpu::npu
