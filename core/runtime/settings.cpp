// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.h"

#include <string>

#include "base/environment.h"
#include "base/lasting.h"

namespace softnpu::runtime {
namespace {

constexpr int32_t kMaxDevices = 1024;

struct DeviceSetting {
  int32_t count = 1;
  std::string wrong;  // an invalid value of SOFTNPU_DEVICES
  bool is_wrong = false;
};

DeviceSetting read_devices() {
  const char* given = setting("SOFTNPU_DEVICES");
  if (given == nullptr) return {};
  if (const auto count = parse_number(given, 1, kMaxDevices)) return {*count, {}, false};
  return {1, given, true};
}

const DeviceSetting& device_setting() { return made_once<read_devices>(); }

}  // namespace

int32_t device_count() { return device_setting().count; }

Status device_count_status() {
  if (!device_setting().is_wrong) return {};
  return fail("devices-setting"_rule, kAclInvalidParam, "SOFTNPU_DEVICES is \"",
              device_setting().wrong, "\"; it must be a number from 1 to ", kMaxDevices);
}

}  // namespace softnpu::runtime
