// SPDX-License-Identifier: Apache-2.0
// Every function of libascendcl without memory, at each place where it allocates.
#include "failing_allocations.h"
#include "no_memory_graphs.h"
#include "no_memory_memory.h"

namespace {

using no_memory::at_every_site;
using no_memory::device_codes;
using no_memory::nothing;

void start_and_end() {
  at_every_site(
      "aclFinalize", device_codes, [] { (void)aclInit(nullptr); }, [] { return aclFinalize(); },
      nothing);
  at_every_site(
      "aclInit", device_codes, [] { (void)aclFinalize(); }, [] { return aclInit(nullptr); },
      nothing);
  at_every_site(
      "aclInit", {ACL_ERROR_BAD_ALLOC}, [] { (void)aclFinalize(); },
      [] { return aclInit(SOFTNPU_CONFIG); }, nothing);
  EXPECT(aclInit(nullptr) == 0 || aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
  at_every_site(
      "aclGetRecentErrMsg", device_codes, nothing,
      [] { return aclGetRecentErrMsg() == nullptr ? 0 : -1; }, nothing);
  at_every_site(
      "aclrtGetSocName", device_codes, nothing,
      [] { return aclrtGetSocName() == nullptr ? -1 : 0; }, nothing);
}

void numbers() {
  int32_t a, b, c;
  uint32_t count;
  aclrtRunMode mode;
  AT_EVERY_SITE(device_codes, aclrtGetVersion, &a, &b, &c);
  AT_EVERY_SITE(device_codes, aclrtGetRunMode, &mode);
  AT_EVERY_SITE(device_codes, aclrtGetLastError, ACL_RT_THREAD_LEVEL);
  AT_EVERY_SITE(device_codes, aclrtPeekAtLastError, ACL_RT_THREAD_LEVEL);
  AT_EVERY_SITE(device_codes, aclrtGetDeviceCount, &count);
  int64_t value;
  AT_EVERY_SITE(device_codes, aclrtGetDeviceInfo, 0, ACL_DEV_ATTR_AICORE_CORE_NUM, &value);
  AT_EVERY_SITE(device_codes, aclGetDeviceCapability, 0, ACL_DEVICE_INFO_AI_CORE_NUM, &value);
  AT_EVERY_SITE(device_codes, aclrtGetDeviceCapability, 0, ACL_DEVICE_INFO_AI_CORE_NUM, &value);
  AT_EVERY_SITE(device_codes, aclopSetModelDir, "models");
  at_every_site(
      "aclDataTypeSize", device_codes, nothing,
      [] { return aclDataTypeSize(ACL_FLOAT) == 4 ? 0 : -1; }, nothing);
  at_every_site(
      "aclFloatToFloat16", device_codes, nothing,
      [] { return aclFloatToFloat16(1.0f) == 0x3C00 ? 0 : -1; }, nothing);
  at_every_site(
      "aclFloat16ToFloat", device_codes, nothing,
      [] { return aclFloat16ToFloat(0x3C00) == 1.0f ? 0 : -1; }, nothing);
}

void settings() {
  int64_t value;
  AT_EVERY_SITE(device_codes, aclrtSetSysParamOpt, ACL_OPT_DETERMINISTIC, 1);
  AT_EVERY_SITE(device_codes, aclrtGetSysParamOpt, ACL_OPT_DETERMINISTIC, &value);
  AT_EVERY_SITE(device_codes, aclrtCtxSetSysParamOpt, ACL_OPT_DETERMINISTIC, 1);
  AT_EVERY_SITE(device_codes, aclrtCtxGetSysParamOpt, ACL_OPT_DETERMINISTIC, &value);
}

void devices() {
  const auto release = [] { EXPECT_OK(aclrtResetDevice(0)); };
  const auto take = [] { (void)aclrtSetDevice(0); };
  const auto leave = [] { (void)aclrtResetDeviceForce(0); };
  at_every_site("aclrtSetDevice", device_codes, leave, [] { return aclrtSetDevice(0); }, nothing);
  at_every_site("aclrtSetDevice", device_codes, take, [] { return aclrtSetDevice(0); }, release);
  const auto take_once = [=] { leave(), take(); };
  at_every_site(
      "aclrtResetDevice", device_codes, take_once, [] { return aclrtResetDevice(0); }, take);
  at_every_site(
      "aclrtResetDeviceForce", device_codes, take, [] { return aclrtResetDeviceForce(0); }, take);
  int32_t device;
  AT_EVERY_SITE(device_codes, aclrtGetDevice, &device);
  AT_EVERY_SITE(device_codes, aclrtSynchronizeDevice);
  AT_EVERY_SITE(device_codes, aclrtSynchronizeDeviceWithTimeout, 1000);
}

void contexts() {
  aclrtContext context = nullptr;
  const auto create = [&] {
    if (context == nullptr) EXPECT_OK(aclrtCreateContext(&context, 0));
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtResetDevice(0));
  };
  const auto destroy = [&] {
    EXPECT_OK(aclrtDestroyContext(context));
    context = nullptr;
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtResetDevice(0));
  };
  at_every_site(
      "aclrtCreateContext", device_codes, nothing, [&] { return aclrtCreateContext(&context, 0); },
      destroy);
  at_every_site(
      "aclrtSetCurrentContext", device_codes, create,
      [&] { return aclrtSetCurrentContext(context); }, nothing);
  at_every_site(
      "aclrtDestroyContext", device_codes, create, [&] { return aclrtDestroyContext(context); },
      [&] { context = nullptr; });
  create();
  destroy();
  aclrtStream stream;
  AT_EVERY_SITE(device_codes, aclrtGetCurrentContext, &context);
  AT_EVERY_SITE(device_codes, aclrtCtxGetCurrentDefaultStream, &stream);
}

void streams() {
  aclrtStream stream = nullptr;
  const auto create = [&] {
    if (stream == nullptr) EXPECT_OK(aclrtCreateStream(&stream));
  };
  const auto destroy = [&] {
    EXPECT_OK(aclrtDestroyStream(stream));
    stream = nullptr;
  };
  const auto forget = [&] { stream = nullptr; };
  at_every_site(
      "aclrtCreateStream", device_codes, nothing, [&] { return aclrtCreateStream(&stream); },
      destroy);
  at_every_site(
      "aclrtCreateStreamWithConfig", device_codes, nothing,
      [&] { return aclrtCreateStreamWithConfig(&stream, 1, 3); }, destroy);
  at_every_site(
      "aclrtDestroyStream", device_codes, create, [&] { return aclrtDestroyStream(stream); },
      forget);
  at_every_site(
      "aclrtDestroyStreamForce", device_codes, create,
      [&] { return aclrtDestroyStreamForce(stream); }, forget);
  create();
  aclrtStreamStatus status;
  int32_t id;
  uint32_t number;
  AT_EVERY_SITE(device_codes, aclrtSynchronizeStream, stream);
  AT_EVERY_SITE(device_codes, aclrtSynchronizeStreamWithTimeout, stream, 1000);
  AT_EVERY_SITE(device_codes, aclrtStreamQuery, stream, &status);
  AT_EVERY_SITE(device_codes, aclrtStreamGetId, stream, &id);
  AT_EVERY_SITE(device_codes, aclrtStreamGetFlags, stream, &number);
  AT_EVERY_SITE(device_codes, aclrtStreamGetPriority, stream, &number);
  destroy();
}

void events() {
  aclrtEvent event = nullptr, later = nullptr;
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  const auto create = [&] {
    if (event == nullptr) EXPECT_OK(aclrtCreateEvent(&event));
  };
  const auto destroy = [&] {
    EXPECT_OK(aclrtDestroyEvent(event));
    event = nullptr;
  };
  at_every_site(
      "aclrtCreateEvent", device_codes, nothing, [&] { return aclrtCreateEvent(&event); }, destroy);
  at_every_site(
      "aclrtCreateEventWithFlag", device_codes, nothing,
      [&] { return aclrtCreateEventWithFlag(&event, 1); }, destroy);
  at_every_site(
      "aclrtCreateEventExWithFlag", device_codes, nothing,
      [&] { return aclrtCreateEventExWithFlag(&event, 8); }, destroy);
  at_every_site(
      "aclrtDestroyEvent", device_codes, create, [&] { return aclrtDestroyEvent(event); },
      [&] { event = nullptr; });
  create();
  EXPECT_OK(aclrtCreateEvent(&later));
  AT_EVERY_SITE(device_codes, aclrtRecordEvent, event, stream);
  EXPECT_OK(aclrtRecordEvent(later, stream));
  aclrtEventStatus status;
  aclrtEventRecordedStatus recorded;
  aclrtEventWaitStatus waits;
  float ms;
  uint64_t us;
  AT_EVERY_SITE(device_codes, aclrtStreamWaitEvent, nullptr, event);
  AT_EVERY_SITE(device_codes, aclrtSynchronizeEvent, event);
  AT_EVERY_SITE(device_codes, aclrtSynchronizeEventWithTimeout, event, 1000);
  AT_EVERY_SITE(device_codes, aclrtQueryEvent, event, &status);
  AT_EVERY_SITE(device_codes, aclrtQueryEventStatus, event, &recorded);
  AT_EVERY_SITE(device_codes, aclrtQueryEventWaitStatus, event, &waits);
  AT_EVERY_SITE(device_codes, aclrtEventElapsedTime, &ms, event, later);
  AT_EVERY_SITE(device_codes, aclrtEventGetTimestamp, event, &us);
  AT_EVERY_SITE(device_codes, aclrtResetEvent, event, stream);
  destroy();
  EXPECT_OK(aclrtDestroyEvent(later));
  EXPECT_OK(aclrtDestroyStream(stream));
}

// An event that a stream has not reached holds back the other: nothing runs when it is launched.
void waiting_streams() {
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  const auto hold = [&] {
    EXPECT_OK(aclrtCreateStream(&stream));
    EXPECT_OK(aclrtCreateStream(&other));
    EXPECT_OK(aclrtSubscribeReport(pthread_self(), stream));
    EXPECT_OK(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream));
    EXPECT_OK(aclrtRecordEvent(event, stream));
  };
  const auto let_go = [&] {
    EXPECT_OK(aclrtProcessReport(1000));
    EXPECT_OK(aclrtSynchronizeStream(other));
    EXPECT_OK(aclrtDestroyStream(other));
    EXPECT_OK(aclrtDestroyStream(stream));
  };
  const auto start_again = [&] { let_go(), hold(); };
  hold();
  at_every_site(
      "aclrtStreamWaitEvent", device_codes, start_again,
      [&] { return aclrtStreamWaitEvent(other, event); }, nothing);
  at_every_site(
      "aclrtRecordEvent", device_codes, start_again,
      [&] { return aclrtRecordEvent(event, stream); }, nothing);
  at_every_site(
      "aclrtResetEvent", device_codes, start_again, [&] { return aclrtResetEvent(event, stream); },
      nothing);
  let_go();
  EXPECT_OK(aclrtDestroyEvent(event));
}

void callbacks() {
  const StreamOwner own;
  const auto self = static_cast<uint64_t>(pthread_self());
  const auto leave = [&] { EXPECT_OK(aclrtUnSubscribeReport(self, own.stream)); };
  at_every_site(
      "aclrtSubscribeReport", device_codes, nothing,
      [&] { return aclrtSubscribeReport(self, own.stream); }, leave);
  EXPECT_OK(aclrtSubscribeReport(self, own.stream));
  const auto process = [&] {
    EXPECT_OK(aclrtProcessReport(1000));
    EXPECT_OK(aclrtSynchronizeStream(own.stream));
  };
  const auto launch = [&] {
    EXPECT_OK(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, own.stream));
  };
  for (const auto type : {ACL_CALLBACK_BLOCK, ACL_CALLBACK_NO_BLOCK})
    at_every_site(
        "aclrtLaunchCallback", device_codes, nothing,
        [&] { return aclrtLaunchCallback([](void*) {}, nullptr, type, own.stream); }, process);
  at_every_site(
      "aclrtProcessReport", device_codes, launch, [] { return aclrtProcessReport(1000); }, nothing);
  at_every_site(
      "aclrtUnSubscribeReport", device_codes, [&] { (void)aclrtSubscribeReport(self, own.stream); },
      [&] { return aclrtUnSubscribeReport(self, own.stream); }, nothing);
  at_every_site(
      "aclrtLaunchHostFunc", device_codes, nothing,
      [&] { return aclrtLaunchHostFunc(own.stream, [](void*) {}, nullptr); },
      [&] { EXPECT_OK(aclrtSynchronizeStream(own.stream)); });
}

// The library's threads keep memory. Afterwards there are more than are ever busy here.
void start_threads() {
  constexpr int kThreadsAtOnce = 16;
  static std::atomic<int> missing{kThreadsAtOnce};
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  std::vector<StreamOwner> owners(kThreadsAtOnce);
  const auto wait_for_all = [](void*) {
    missing.fetch_sub(1);
    while (missing.load() > 0) std::this_thread::yield();
  };
  for (const StreamOwner& own : owners)
    EXPECT_OK(aclrtLaunchHostFunc(own.stream, wait_for_all, nullptr));
  for (const StreamOwner& own : owners) EXPECT_OK(aclrtSynchronizeStream(own.stream));
}

void everything() {
  start_and_end();
  numbers();
  devices();
  settings();
  contexts();
  streams();
  events();
  waiting_streams();
  no_memory::memory();
  no_memory::copies();
  no_memory::virtual_memory();
  callbacks();
  no_memory::graphs();
  EXPECT_OK(aclrtResetDeviceForce(0));
}

}  // namespace

int main() {
  start_threads();
  no_memory::twice(everything);
  (void)aclFinalize();
  return no_memory::report();
}
