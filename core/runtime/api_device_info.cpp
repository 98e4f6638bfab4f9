// SPDX-License-Identifier: Apache-2.0
// Queries about a device.
#include "acl/acl.h"
#include "runtime/device_info.h"
#include "runtime/entry.h"
#include "runtime/settings.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

static_assert(ACL_DEV_ATTR_AICORE_CORE_NUM == int(ACL_DEVICE_INFO_AI_CORE_NUM));
static_assert(ACL_DEV_ATTR_VECTOR_CORE_NUM == int(ACL_DEVICE_INFO_VECTOR_CORE_NUM));
static_assert(ACL_DEV_ATTR_L2_CACHE_SIZE == int(ACL_DEVICE_INFO_L2_SIZE));

// The attributes of the three functions have different names, but the same numbers.
aclError get_info(const Call& call, uint32_t device, const char* name, const char* type,
                  int32_t what, int64_t* value) {
  return entry(call, [&]() -> Status {
    if (device >= static_cast<uint32_t>(device_count()))
      return fail("device-id"_rule, kRtInvalidDeviceId, "deviceId is ", device,
                  "; it must be below ", device_count(), ", the number of devices");
    const DeviceInfo info = device_info();
    switch (what) {
      case ACL_DEV_ATTR_AICORE_CORE_NUM:
        return store("value", value, info.ai_cores);
      case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        return store("value", value, info.vector_cores);
      case ACL_DEV_ATTR_L2_CACHE_SIZE:
        return store("value", value, info.l2_bytes);
      default:
        return fail("device-attribute"_rule, kRtParamInvalid, name, " is ", what,
                    "; it must be one of ", type, ", 0 to 2");
    }
  });
}

}  // namespace

extern "C" {

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return get_info(CALL(deviceId, attr, value), deviceId, "attr", "aclrtDevAttr", number_of(attr),
                  value);
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return get_info(CALL(deviceId, deviceInfo, value), deviceId, "deviceInfo", "aclDeviceInfo",
                  number_of(deviceInfo), value);
}

aclError aclrtGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return get_info(CALL(deviceId, deviceInfo, value), deviceId, "deviceInfo", "aclDeviceInfo",
                  number_of(deviceInfo), value);
}

aclError aclopSetModelDir(const char* modelDir) {
  return entry(CALL(modelDir), [&]() -> Status {
    if (modelDir != nullptr) return {};
    return fail("argument-null"_rule, kAclInvalidParam, "modelDir is null");
  });
}

}  // extern "C"
