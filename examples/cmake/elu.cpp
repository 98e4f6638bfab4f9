// SPDX-License-Identifier: Apache-2.0
//
// elu of four numbers: the shortest program that uses the device.
#include <acl/acl.h>
#include <aclnnop/aclnn_elu.h>

#include <cstdio>
#include <cstdlib>

namespace {

void check(int status, const char* what) {
  if (status == ACL_SUCCESS) return;
  const char* const message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d: %s\n", what, status, message != nullptr ? message : "no message");
  std::exit(1);
}

aclTensor* vector_at(void* address, int64_t count) {
  const int64_t stride = 1;
  return aclCreateTensor(&count, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &count, 1, address);
}

}  // namespace

int main() {
  float numbers[] = {-2, -1, 0, 1};
  const int64_t count = 4;
  const size_t bytes = sizeof numbers;
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");

  void *input = nullptr, *output = nullptr, *workspace = nullptr;
  check(aclrtMalloc(&input, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclrtMalloc(&output, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclrtMemcpy(input, bytes, numbers, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
  aclTensor* const self = vector_at(input, count);
  aclTensor* const out = vector_at(output, count);
  float one = 1;
  aclScalar* const factor = aclCreateScalar(&one, ACL_FLOAT);

  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  check(aclnnEluGetWorkspaceSize(self, factor, factor, factor, out, &size, &executor), "phase one");
  if (size > 0) check(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclnnElu(workspace, size, executor, nullptr), "aclnnElu");
  check(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");

  check(aclrtMemcpy(numbers, bytes, output, bytes, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
  for (const float number : numbers) std::printf("%.4f\n", number);

  aclDestroyTensor(self);
  aclDestroyTensor(out);
  aclDestroyScalar(factor);
  check(aclrtFree(input), "aclrtFree");
  check(aclrtFree(output), "aclrtFree");
  if (workspace != nullptr) check(aclrtFree(workspace), "aclrtFree");
  check(aclrtResetDevice(0), "aclrtResetDevice");
  return aclFinalize();
}
