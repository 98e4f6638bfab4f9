// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace softnpu::npu {
namespace {

// The runtime's number of each device that the program sees. As on a machine with NPUs, a list
// that does not ascend, or names a device that is not there, leaves none.
std::vector<int32_t> visible_devices() {
  uint32_t count = 0;
  if (aclrtGetDeviceCount(&count) != ACL_SUCCESS) return {};
  std::vector<int32_t> found;
  const char* const list = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (list == nullptr || *list == '\0') {
    for (uint32_t i = 0; i < std::min<size_t>(count, kMostDevices); ++i)
      found.push_back(static_cast<int32_t>(i));
    return found;
  }
  for (const char* at = list;; ++at) {
    char* end = nullptr;
    const long id = std::strtol(at, &end, 10);
    const bool ascends = found.empty() || id > found.back();
    if (end == at || id < 0 || id >= static_cast<long>(count) || !ascends) return {};
    found.push_back(static_cast<int32_t>(id));
    if (*end == '\0') return found;
    if (*end != ',') return {};
    at = end;
  }
}

const std::vector<int32_t>& visible() {
  static const std::vector<int32_t> devices = visible_devices();
  return devices;
}

thread_local DeviceIndex current = 0;
thread_local aclrtContext entered = nullptr;
std::array<std::atomic<aclrtContext>, kMostDevices> contexts{};
std::atomic<bool> in_bad_fork{false};

void note_fork() {
  for (const auto& context : contexts)
    if (context.load() != nullptr) in_bad_fork = true;
}

void set_up(DeviceIndex index) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (contexts[index].load() != nullptr) return;
  static const bool initialized = [] {
    pthread_atfork(nullptr, nullptr, note_fork);
    const aclError status = aclInit(nullptr);
    if (status != ACL_ERROR_REPEAT_INITIALIZE) check(status, "aclInit");
    give_autograd_threads();
    return true;
  }();
  (void)initialized;
  check(aclrtSetDevice(visible()[index]), "aclrtSetDevice");
  aclrtContext context = nullptr;
  check(aclrtGetCurrentContext(&context), "aclrtGetCurrentContext");
  contexts[index] = context;
}

}  // namespace

void check(aclError status, const char* function) {
  if (status == ACL_SUCCESS) return;
  const char* const message = aclGetRecentErrMsg();
  TORCH_CHECK(false, "NPU function error: ", function, ", error code is ", status,
              "\n[ERROR] ERR00100 PTA call acl api failed\n", message ? message : "");
}

DeviceIndex device_count() { return static_cast<DeviceIndex>(visible().size()); }

DeviceIndex current_device() { return current; }

DeviceIndex checked_device(DeviceIndex index) {
  TORCH_CHECK(device_count() > 0,
              "No NPU is available: ASCEND_RT_VISIBLE_DEVICES must list devices below ",
              "SOFTNPU_DEVICES in ascending order.");
  TORCH_CHECK(index >= 0 && index < device_count(),
              "Invalid device ID.\n        Check whether the device ID is valid. The device is ",
              static_cast<int>(index), "; softnpu emulates ", static_cast<int>(device_count()),
              ", from 0 on. SOFTNPU_DEVICES=N sets another number.");
  return index;
}

void set_device(DeviceIndex index) { current = checked_device(index); }

bool is_bad_fork() { return in_bad_fork; }

bool is_set_up(DeviceIndex index) { return contexts[index].load() != nullptr; }

void enter(DeviceIndex index) {
  TORCH_CHECK(!is_bad_fork(),
              "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, ",
              "you must use the 'spawn' start method");
  if (contexts[index].load(std::memory_order_acquire) == nullptr) set_up(checked_device(index));
  const aclrtContext wanted = contexts[index].load(std::memory_order_relaxed);
  // The program may have made another context current; a thread without any is not asked.
  aclrtContext now = nullptr;
  if (entered == wanted && aclrtGetCurrentContext(&now) == ACL_SUCCESS && now == wanted) return;
  check(aclrtSetCurrentContext(wanted), "aclrtSetCurrentContext");
  entered = wanted;
}

OnDevice::OnDevice(DeviceIndex index) : before_(current) {
  if (index >= 0) current = index;
}
OnDevice::~OnDevice() { current = before_; }

}  // namespace softnpu::npu
