// SPDX-License-Identifier: Apache-2.0
// Every function of libascendcl without memory, at each place where it allocates.
#include "failing_allocations.h"
#include "no_memory_graphs.h"

namespace {

using no_memory::at_every_site;
using no_memory::nothing;

#define CODES \
  {ACL_ERROR_BAD_ALLOC, ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL}

void start_and_end() {
  at_every_site(
      "aclFinalize", CODES, [] { (void)aclInit(nullptr); }, [] { return aclFinalize(); }, nothing);
  at_every_site(
      "aclInit", CODES, [] { (void)aclFinalize(); }, [] { return aclInit(nullptr); }, nothing);
  at_every_site(
      "aclInit", {ACL_ERROR_BAD_ALLOC}, [] { (void)aclFinalize(); },
      [] { return aclInit(SOFTNPU_CONFIG); }, nothing);
  EXPECT(aclInit(nullptr) == 0 || aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
  at_every_site(
      "aclGetRecentErrMsg", CODES, nothing, [] { return aclGetRecentErrMsg() == nullptr ? 0 : -1; },
      nothing);
  at_every_site(
      "aclrtGetSocName", CODES, nothing, [] { return aclrtGetSocName() == nullptr ? -1 : 0; },
      nothing);
}

void numbers() {
  int32_t a, b, c;
  uint32_t count;
  aclrtRunMode mode;
  AT_EVERY_SITE(CODES, aclrtGetVersion, &a, &b, &c);
  AT_EVERY_SITE(CODES, aclrtGetRunMode, &mode);
  AT_EVERY_SITE(CODES, aclrtGetLastError, ACL_RT_THREAD_LEVEL);
  AT_EVERY_SITE(CODES, aclrtPeekAtLastError, ACL_RT_THREAD_LEVEL);
  AT_EVERY_SITE(CODES, aclrtGetDeviceCount, &count);
  int64_t value;
  AT_EVERY_SITE(CODES, aclrtGetDeviceInfo, 0, ACL_DEV_ATTR_AICORE_CORE_NUM, &value);
  AT_EVERY_SITE(CODES, aclGetDeviceCapability, 0, ACL_DEVICE_INFO_AI_CORE_NUM, &value);
  AT_EVERY_SITE(CODES, aclrtGetDeviceCapability, 0, ACL_DEVICE_INFO_AI_CORE_NUM, &value);
  AT_EVERY_SITE(CODES, aclopSetModelDir, "models");
  at_every_site(
      "aclDataTypeSize", CODES, nothing, [] { return aclDataTypeSize(ACL_FLOAT) == 4 ? 0 : -1; },
      nothing);
  at_every_site(
      "aclFloatToFloat16", CODES, nothing,
      [] { return aclFloatToFloat16(1.0f) == 0x3C00 ? 0 : -1; }, nothing);
  at_every_site(
      "aclFloat16ToFloat", CODES, nothing,
      [] { return aclFloat16ToFloat(0x3C00) == 1.0f ? 0 : -1; }, nothing);
}

void settings() {
  int64_t value;
  AT_EVERY_SITE(CODES, aclrtSetSysParamOpt, ACL_OPT_DETERMINISTIC, 1);
  AT_EVERY_SITE(CODES, aclrtGetSysParamOpt, ACL_OPT_DETERMINISTIC, &value);
  AT_EVERY_SITE(CODES, aclrtCtxSetSysParamOpt, ACL_OPT_DETERMINISTIC, 1);
  AT_EVERY_SITE(CODES, aclrtCtxGetSysParamOpt, ACL_OPT_DETERMINISTIC, &value);
}

void devices() {
  const auto release = [] { EXPECT_OK(aclrtResetDevice(0)); };
  const auto take = [] { (void)aclrtSetDevice(0); };
  const auto leave = [] { (void)aclrtResetDeviceForce(0); };
  at_every_site("aclrtSetDevice", CODES, leave, [] { return aclrtSetDevice(0); }, nothing);
  at_every_site("aclrtSetDevice", CODES, take, [] { return aclrtSetDevice(0); }, release);
  const auto take_once = [=] { leave(), take(); };
  at_every_site("aclrtResetDevice", CODES, take_once, [] { return aclrtResetDevice(0); }, take);
  at_every_site(
      "aclrtResetDeviceForce", CODES, take, [] { return aclrtResetDeviceForce(0); }, take);
  int32_t device;
  AT_EVERY_SITE(CODES, aclrtGetDevice, &device);
  AT_EVERY_SITE(CODES, aclrtSynchronizeDevice);
  AT_EVERY_SITE(CODES, aclrtSynchronizeDeviceWithTimeout, 1000);
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
      "aclrtCreateContext", CODES, nothing, [&] { return aclrtCreateContext(&context, 0); },
      destroy);
  at_every_site(
      "aclrtSetCurrentContext", CODES, create, [&] { return aclrtSetCurrentContext(context); },
      nothing);
  at_every_site(
      "aclrtDestroyContext", CODES, create, [&] { return aclrtDestroyContext(context); },
      [&] { context = nullptr; });
  create();
  destroy();
  aclrtStream stream;
  AT_EVERY_SITE(CODES, aclrtGetCurrentContext, &context);
  AT_EVERY_SITE(CODES, aclrtCtxGetCurrentDefaultStream, &stream);
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
      "aclrtCreateStream", CODES, nothing, [&] { return aclrtCreateStream(&stream); }, destroy);
  at_every_site(
      "aclrtCreateStreamWithConfig", CODES, nothing,
      [&] { return aclrtCreateStreamWithConfig(&stream, 1, 3); }, destroy);
  at_every_site(
      "aclrtDestroyStream", CODES, create, [&] { return aclrtDestroyStream(stream); }, forget);
  at_every_site(
      "aclrtDestroyStreamForce", CODES, create, [&] { return aclrtDestroyStreamForce(stream); },
      forget);
  create();
  aclrtStreamStatus status;
  int32_t id;
  uint32_t number;
  AT_EVERY_SITE(CODES, aclrtSynchronizeStream, stream);
  AT_EVERY_SITE(CODES, aclrtSynchronizeStreamWithTimeout, stream, 1000);
  AT_EVERY_SITE(CODES, aclrtStreamQuery, stream, &status);
  AT_EVERY_SITE(CODES, aclrtStreamGetId, stream, &id);
  AT_EVERY_SITE(CODES, aclrtStreamGetFlags, stream, &number);
  AT_EVERY_SITE(CODES, aclrtStreamGetPriority, stream, &number);
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
      "aclrtCreateEvent", CODES, nothing, [&] { return aclrtCreateEvent(&event); }, destroy);
  at_every_site(
      "aclrtCreateEventWithFlag", CODES, nothing,
      [&] { return aclrtCreateEventWithFlag(&event, 1); }, destroy);
  at_every_site(
      "aclrtCreateEventExWithFlag", CODES, nothing,
      [&] { return aclrtCreateEventExWithFlag(&event, 8); }, destroy);
  at_every_site(
      "aclrtDestroyEvent", CODES, create, [&] { return aclrtDestroyEvent(event); },
      [&] { event = nullptr; });
  create();
  EXPECT_OK(aclrtCreateEvent(&later));
  AT_EVERY_SITE(CODES, aclrtRecordEvent, event, stream);
  EXPECT_OK(aclrtRecordEvent(later, stream));
  aclrtEventStatus status;
  aclrtEventRecordedStatus recorded;
  aclrtEventWaitStatus waits;
  float ms;
  uint64_t us;
  AT_EVERY_SITE(CODES, aclrtStreamWaitEvent, nullptr, event);
  AT_EVERY_SITE(CODES, aclrtSynchronizeEvent, event);
  AT_EVERY_SITE(CODES, aclrtSynchronizeEventWithTimeout, event, 1000);
  AT_EVERY_SITE(CODES, aclrtQueryEvent, event, &status);
  AT_EVERY_SITE(CODES, aclrtQueryEventStatus, event, &recorded);
  AT_EVERY_SITE(CODES, aclrtQueryEventWaitStatus, event, &waits);
  AT_EVERY_SITE(CODES, aclrtEventElapsedTime, &ms, event, later);
  AT_EVERY_SITE(CODES, aclrtEventGetTimestamp, event, &us);
  AT_EVERY_SITE(CODES, aclrtResetEvent, event, stream);
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
      "aclrtStreamWaitEvent", CODES, start_again,
      [&] { return aclrtStreamWaitEvent(other, event); }, nothing);
  at_every_site(
      "aclrtRecordEvent", CODES, start_again, [&] { return aclrtRecordEvent(event, stream); },
      nothing);
  at_every_site(
      "aclrtResetEvent", CODES, start_again, [&] { return aclrtResetEvent(event, stream); },
      nothing);
  let_go();
  EXPECT_OK(aclrtDestroyEvent(event));
}

template <class Allocate, class Free>
void allocation(const char* function, const Allocate& allocate, const Free& free_it) {
  void *memory = nullptr, *first = nullptr;
  EXPECT_OK(allocate(&first, 100));
  EXPECT_OK(free_it(first));
  at_every_site(
      function, CODES, nothing, [&] { return allocate(&memory, 100); },
      [&] {
        // Else the failed calls before have lost addresses.
        if (no_memory::is_warm) EXPECT(memory == first);
        EXPECT_OK(free_it(memory));
      });
  at_every_site(
      function, CODES, nothing, [&] { return allocate(&memory, size_t{5} << 20); },
      [&] { EXPECT_OK(free_it(memory)); });
}

void memory() {
  const auto policy = ACL_MEM_MALLOC_HUGE_FIRST;
  allocation(
      "aclrtMalloc", [=](void** p, size_t n) { return aclrtMalloc(p, n, policy); }, aclrtFree);
  allocation(
      "aclrtMallocAlign32", [=](void** p, size_t n) { return aclrtMallocAlign32(p, n, policy); },
      aclrtFree);
  allocation(
      "aclrtMallocCached", [=](void** p, size_t n) { return aclrtMallocCached(p, n, policy); },
      aclrtFree);
  allocation("aclrtMallocHost", aclrtMallocHost, aclrtFreeHost);
  void* device = nullptr;
  const auto take = [&] {
    if (device == nullptr) EXPECT_OK(aclrtMalloc(&device, 100, policy));
  };
  const auto forget = [&] { device = nullptr; };
  at_every_site("aclrtFree", CODES, take, [&] { return aclrtFree(device); }, forget);
  at_every_site(
      "aclrtFreeWithDevSync", CODES, take, [&] { return aclrtFreeWithDevSync(device); }, forget);
  void* host = nullptr;
  at_every_site(
      "aclrtFreeHost", CODES,
      [&] {
        if (host == nullptr) EXPECT_OK(aclrtMallocHost(&host, 100));
      },
      [&] { return aclrtFreeHost(host); }, [&] { host = nullptr; });
  size_t free_bytes, total;
  AT_EVERY_SITE(CODES, aclrtGetMemInfo, ACL_HBM_MEM, &free_bytes, &total);
}

void copies() {
  const Buffer buffer(256);
  void *a = buffer.address, *b = static_cast<char*>(a) + 128;
  const auto kind = ACL_MEMCPY_DEFAULT;
  AT_EVERY_SITE(CODES, aclrtMemcpy, a, 64, b, 64, kind);
  AT_EVERY_SITE(CODES, aclrtMemcpyAsync, a, 64, b, 64, kind, nullptr);
  AT_EVERY_SITE(CODES, aclrtMemset, a, 64, 1, 64);
  AT_EVERY_SITE(CODES, aclrtMemsetAsync, a, 64, 1, 64, nullptr);
  AT_EVERY_SITE(CODES, aclrtMemcpy2d, a, 16, b, 8, 8, 3, kind);
  AT_EVERY_SITE(CODES, aclrtMemcpy2dAsync, a, 16, b, 8, 8, 3, kind, nullptr);
  void *to[] = {a, a}, *from[] = {b, b};
  size_t sizes[] = {64, 32}, first = 0, failing;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc.type = attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  AT_EVERY_SITE(CODES, aclrtMemcpyBatchAsync, to, sizes, from, sizes, 2, &attr, &first, 1, &failing,
                nullptr);
}

void virtual_memory() {
  constexpr size_t kUnit = size_t{2} << 20;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  size_t unit;
  AT_EVERY_SITE(CODES, aclrtMemGetAllocationGranularity, &prop,
                ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit);
  void* range = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const auto reserve = [&] {
    if (range == nullptr) EXPECT_OK(aclrtReserveMemAddress(&range, kUnit, 0, nullptr, 0));
  };
  const auto release = [&] {
    EXPECT_OK(aclrtReleaseMemAddress(range));
    range = nullptr;
  };
  const auto take = [&] {
    if (handle == nullptr) EXPECT_OK(aclrtMallocPhysical(&handle, kUnit, &prop, 0));
  };
  const auto drop = [&] {
    EXPECT_OK(aclrtFreePhysical(handle));
    handle = nullptr;
  };
  at_every_site(
      "aclrtReserveMemAddress", CODES, nothing,
      [&] { return aclrtReserveMemAddress(&range, kUnit, 0, nullptr, 0); }, release);
  at_every_site(
      "aclrtReleaseMemAddress", CODES, reserve, [&] { return aclrtReleaseMemAddress(range); },
      [&] { range = nullptr; });
  at_every_site(
      "aclrtMallocPhysical", CODES, nothing,
      [&] { return aclrtMallocPhysical(&handle, kUnit, &prop, 0); }, drop);
  at_every_site(
      "aclrtFreePhysical", CODES, take, [&] { return aclrtFreePhysical(handle); },
      [&] { handle = nullptr; });
  reserve();
  take();
  at_every_site(
      "aclrtMapMem", CODES, nothing, [&] { return aclrtMapMem(range, kUnit, 0, handle, 0); },
      [&] { EXPECT_OK(aclrtUnmapMem(range)); });
  bool is_mapped = false;
  at_every_site(
      "aclrtUnmapMem", CODES,
      [&] {
        if (!is_mapped) EXPECT_OK(aclrtMapMem(range, kUnit, 0, handle, 0));
        is_mapped = true;
      },
      [&] { return aclrtUnmapMem(range); }, [&] { is_mapped = false; });
  drop();
  release();
}

void callbacks() {
  const StreamOwner own;
  const auto self = static_cast<uint64_t>(pthread_self());
  const auto leave = [&] { EXPECT_OK(aclrtUnSubscribeReport(self, own.stream)); };
  at_every_site(
      "aclrtSubscribeReport", CODES, nothing,
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
        "aclrtLaunchCallback", CODES, nothing,
        [&] { return aclrtLaunchCallback([](void*) {}, nullptr, type, own.stream); }, process);
  at_every_site(
      "aclrtProcessReport", CODES, launch, [] { return aclrtProcessReport(1000); }, nothing);
  at_every_site(
      "aclrtUnSubscribeReport", CODES, [&] { (void)aclrtSubscribeReport(self, own.stream); },
      [&] { return aclrtUnSubscribeReport(self, own.stream); }, nothing);
  at_every_site(
      "aclrtLaunchHostFunc", CODES, nothing,
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
  memory();
  copies();
  virtual_memory();
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
