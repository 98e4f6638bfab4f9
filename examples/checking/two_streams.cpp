// SPDX-License-Identifier: Apache-2.0
// One stream fills memory that another one copies, without an event between them.
#include <cstdio>

#include "acl/acl.h"

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream writer = nullptr, reader = nullptr;
  aclrtCreateStream(&writer);
  aclrtCreateStream(&reader);
  void *data = nullptr, *copy = nullptr;
  aclrtMalloc(&data, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&copy, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(data, 64, 1, 64);

  aclrtMemsetAsync(data, 64, 2, 64, writer);
  aclrtMemcpyAsync(copy, 64, data, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, reader);
  aclrtSynchronizeDevice();
  char result = 0;
  aclrtMemcpy(&result, 1, copy, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("result: %d\n", result);

  aclrtDestroyStream(writer);
  aclrtDestroyStream(reader);
  aclrtFree(data);
  aclrtFree(copy);
  aclrtResetDevice(0);
  return aclFinalize();
}
