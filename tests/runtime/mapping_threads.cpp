// SPDX-License-Identifier: Apache-2.0
// Eight threads map and unmap memory: some that they share, of which each is at one place at a
// time, and some of their own, whose contents nobody else may change.
#include <cstdlib>

#include "parallel.h"

namespace {

constexpr size_t kUnit = size_t{2} << 20;
constexpr int kShared = 3;

aclrtPhysicalMemProp device_memory() {
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  return prop;
}

// What is mapped cannot be mapped again, so each that is can be unmapped, once.
void share(char* range, aclrtDrvMemHandle const* shared, int i) {
  char* const place = range + static_cast<size_t>(i % kShared) * kUnit;
  const int status = aclrtMapMem(place, kUnit, 0, shared[i / kShared % kShared], 0);
  EXPECT(status == 0 || status == ACL_ERROR_RT_PARAM_INVALID);
  if (status != 0) return;
  EXPECT(aclrtFreePhysical(shared[i / kShared % kShared]) == ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_OK(aclrtMemset(place, kUnit, i, 64));
  EXPECT_OK(aclrtUnmapMem(place));
}

void keep(void* own, char mine) {
  const aclrtPhysicalMemProp prop = device_memory();
  aclrtDrvMemHandle handle = nullptr;
  EXPECT_OK(aclrtMallocPhysical(&handle, kUnit, &prop, 0));
  EXPECT_OK(aclrtMapMem(own, kUnit, 0, handle, 0));
  EXPECT_OK(aclrtMemset(own, kUnit, mine, kUnit));
  EXPECT_OK(aclrtUnmapMem(own));
  EXPECT_OK(aclrtMapMem(own, kUnit, 0, handle, 0));
  char last = 0;
  EXPECT_OK(aclrtMemcpy(&last, 1, static_cast<char*>(own) + kUnit - 1, 1, ACL_MEMCPY_DEFAULT));
  EXPECT(last == mine);
  EXPECT_OK(aclrtUnmapMem(own));
  EXPECT_OK(aclrtFreePhysical(handle));
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = (count > 1 ? std::atoi(arguments[1]) : 1600) / (4 * kThreads);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  const aclrtPhysicalMemProp prop = device_memory();
  void* range = nullptr;
  aclrtDrvMemHandle shared[kShared];
  EXPECT_OK(aclrtReserveMemAddress(&range, kShared * kUnit, 0, nullptr, 0));
  for (auto& each : shared) EXPECT_OK(aclrtMallocPhysical(&each, kUnit, &prop, 0));
  in_parallel([&](int thread) {
    void* own = nullptr;
    EXPECT_OK(aclrtReserveMemAddress(&own, kUnit, 0, nullptr, 0));
    for (int i = 0; i < rounds; ++i) {
      share(static_cast<char*>(range), shared, i + thread);
      keep(own, static_cast<char>(thread));
    }
    EXPECT_OK(aclrtReleaseMemAddress(own));
  });
  for (auto& each : shared) EXPECT_OK(aclrtFreePhysical(each));
  EXPECT_OK(aclrtReleaseMemAddress(range));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  std::printf("%d passed, %d failed\n", passed.load(), failed.load());
  return failed.load() == 0 ? 0 : 1;
}
