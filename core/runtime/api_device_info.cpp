// SPDX-License-Identifier: Apache-2.0
// Queries about a device.
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "acl/acl.h"
#include "loops/threads.h"
#include "runtime/entry.h"
#include "runtime/product.h"
#include "runtime/settings.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

static_assert(ACL_DEV_ATTR_AICORE_CORE_NUM == int(ACL_DEVICE_INFO_AI_CORE_NUM));
static_assert(ACL_DEV_ATTR_VECTOR_CORE_NUM == int(ACL_DEVICE_INFO_VECTOR_CORE_NUM));
static_assert(ACL_DEV_ATTR_L2_CACHE_SIZE == int(ACL_DEVICE_INFO_L2_SIZE));

// The hardware properties of the emulated product. All are above 0.
struct DeviceInfo {
  int64_t ai_cores;
  int64_t vector_cores;
  int64_t l2_bytes;
};

constexpr int64_t kMiB = int64_t{1} << 20;

struct Known {
  std::string_view name;
  DeviceInfo info;
};

// Published numbers. A family's name stands for one of its common products.
constexpr Known kKnown[] = {
    {"Ascend910_93", {24, 48, 192 * kMiB}}, {"Ascend910_9392", {24, 48, 192 * kMiB}},
    {"Ascend910B", {24, 48, 192 * kMiB}},   {"Ascend910B2", {24, 48, 192 * kMiB}},
    {"Ascend910B3", {20, 40, 192 * kMiB}},  {"Ascend910B4", {20, 40, 96 * kMiB}},
    {"Ascend910", {32, 32, 32 * kMiB}},     {"Ascend910A", {32, 32, 32 * kMiB}},
};

int64_t cache_bytes() {
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long bytes = sysconf(level); bytes > 0) return bytes;
  return kMiB;
}

// Properties that are not published are this machine's: its threads and its cache.
DeviceInfo device_info() {
  const auto known = std::ranges::find(kKnown, product().name, &Known::name);
  if (known != std::end(kKnown)) return known->info;
  const int64_t threads = loops::usable_threads();
  return {threads, threads, cache_bytes()};
}

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
