// SPDX-License-Identifier: Apache-2.0
// Two streams, work in both, an event from one to the other, copies of both kinds, and a failure.
#include <csignal>
#include <cstring>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu.h"
#include "failing_work.h"
#include "parallel.h"

namespace {

// self has this shape in memory of its own order; out is contiguous.
void elu(void* from, void* to, const int64_t (&strides)[2], aclrtStream stream) {
  const int64_t shape[] = {300, 200}, dense[] = {200, 1}, storage[] = {60000};
  const auto tensor = [&](void* address, const int64_t* order) {
    return aclCreateTensor(shape, 2, ACL_FLOAT, order, 0, ACL_FORMAT_ND, storage, 1, address);
  };
  aclTensor *const self = tensor(from, strides), *const out = tensor(to, dense);
  float one = 1;
  aclScalar* const scalar = aclCreateScalar(&one, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_OK(aclnnEluGetWorkspaceSize(self, scalar, scalar, scalar, out, &size, &executor));
  EXPECT_OK(aclnnElu(nullptr, size, executor, stream));
  EXPECT_OK(aclDestroyTensor(self));
  EXPECT_OK(aclDestroyTensor(out));
  EXPECT_OK(aclDestroyScalar(scalar));
}

}  // namespace

int main(int, char** arguments) {
  constexpr size_t kBytes = 60000 * sizeof(float);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream first = nullptr, second = nullptr;
  EXPECT_OK(aclrtCreateStream(&first));
  EXPECT_OK(aclrtCreateStream(&second));
  void *a = nullptr, *b = nullptr, *c = nullptr;
  for (void** each : {&a, &b, &c}) EXPECT_OK(aclrtMalloc(each, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(a, kBytes, 0, kBytes));
  elu(a, b, {200, 1}, first);
  elu(a, b, {1, 300}, first);
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtRecordEvent(event, first));
  EXPECT_OK(aclrtStreamWaitEvent(second, event));
  EXPECT_OK(aclrtMemcpyAsync(c, kBytes, b, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
  elu(a, b, {0, 1}, second);
  fail_in(second, 99);
  EXPECT(aclrtSynchronizeStream(second) == 361001);
  EXPECT_OK(aclrtSynchronizeStream(first));
  if (std::strcmp(arguments[1], "killed") == 0) std::raise(SIGKILL);
  EXPECT_OK(aclFinalize());
  return failed.load() == 0 ? 0 : 1;
}
