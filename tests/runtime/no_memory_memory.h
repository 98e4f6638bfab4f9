// SPDX-License-Identifier: Apache-2.0
// The functions of memory without memory.
#pragma once

#include "failing_allocations.h"

namespace no_memory {

template <class Allocate, class Free>
void allocation(const char* function, const Allocate& allocate, const Free& free_it) {
  void *memory = nullptr, *first = nullptr;
  EXPECT_OK(allocate(&first, 100));
  EXPECT_OK(free_it(first));
  at_every_site(
      function, device_codes, nothing, [&] { return allocate(&memory, 100); },
      [&] {
        // Else the failed calls before have lost addresses.
        if (is_warm) EXPECT(memory == first);
        EXPECT_OK(free_it(memory));
      });
  at_every_site(
      function, device_codes, nothing, [&] { return allocate(&memory, size_t{5} << 20); },
      [&] { EXPECT_OK(free_it(memory)); });
}

inline void memory() {
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
  at_every_site("aclrtFree", device_codes, take, [&] { return aclrtFree(device); }, forget);
  at_every_site(
      "aclrtFreeWithDevSync", device_codes, take, [&] { return aclrtFreeWithDevSync(device); },
      forget);
  void* host = nullptr;
  at_every_site(
      "aclrtFreeHost", device_codes,
      [&] {
        if (host == nullptr) EXPECT_OK(aclrtMallocHost(&host, 100));
      },
      [&] { return aclrtFreeHost(host); }, [&] { host = nullptr; });
  size_t free_bytes, total;
  AT_EVERY_SITE(device_codes, aclrtGetMemInfo, ACL_HBM_MEM, &free_bytes, &total);
}

inline void copies() {
  const Buffer buffer(256);
  void *a = buffer.address, *b = static_cast<char*>(a) + 128;
  const auto kind = ACL_MEMCPY_DEFAULT;
  AT_EVERY_SITE(device_codes, aclrtMemcpy, a, 64, b, 64, kind);
  AT_EVERY_SITE(device_codes, aclrtMemcpyAsync, a, 64, b, 64, kind, nullptr);
  AT_EVERY_SITE(device_codes, aclrtMemset, a, 64, 1, 64);
  AT_EVERY_SITE(device_codes, aclrtMemsetAsync, a, 64, 1, 64, nullptr);
  AT_EVERY_SITE(device_codes, aclrtMemcpy2d, a, 16, b, 8, 8, 3, kind);
  AT_EVERY_SITE(device_codes, aclrtMemcpy2dAsync, a, 16, b, 8, 8, 3, kind, nullptr);
  void *to[] = {a, a}, *from[] = {b, b};
  size_t sizes[] = {64, 32}, first = 0, failing;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc.type = attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  AT_EVERY_SITE(device_codes, aclrtMemcpyBatchAsync, to, sizes, from, sizes, 2, &attr, &first, 1,
                &failing, nullptr);
}

inline void virtual_memory() {
  constexpr size_t kUnit = size_t{2} << 20;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  size_t unit;
  AT_EVERY_SITE(device_codes, aclrtMemGetAllocationGranularity, &prop,
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
      "aclrtReserveMemAddress", device_codes, nothing,
      [&] { return aclrtReserveMemAddress(&range, kUnit, 0, nullptr, 0); }, release);
  at_every_site(
      "aclrtReleaseMemAddress", device_codes, reserve,
      [&] { return aclrtReleaseMemAddress(range); }, [&] { range = nullptr; });
  at_every_site(
      "aclrtMallocPhysical", device_codes, nothing,
      [&] { return aclrtMallocPhysical(&handle, kUnit, &prop, 0); }, drop);
  at_every_site(
      "aclrtFreePhysical", device_codes, take, [&] { return aclrtFreePhysical(handle); },
      [&] { handle = nullptr; });
  reserve();
  take();
  at_every_site(
      "aclrtMapMem", device_codes, nothing, [&] { return aclrtMapMem(range, kUnit, 0, handle, 0); },
      [&] { EXPECT_OK(aclrtUnmapMem(range)); });
  bool is_mapped = false;
  at_every_site(
      "aclrtUnmapMem", device_codes,
      [&] {
        if (!is_mapped) EXPECT_OK(aclrtMapMem(range, kUnit, 0, handle, 0));
        is_mapped = true;
      },
      [&] { return aclrtUnmapMem(range); }, [&] { is_mapped = false; });
  drop();
  release();
}

}  // namespace no_memory
