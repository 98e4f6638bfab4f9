// SPDX-License-Identifier: Apache-2.0
// Fills device memory with 2 instead of 1, and reads it without waiting for the stream.
#include <cstdio>

#include "acl/acl.h"

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  void* data = nullptr;
  aclrtMalloc(&data, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(data, 64, 1, 64);

  aclrtMemsetAsync(data, 64, 2, 64, stream);
  char result = 0;
  aclrtMemcpy(&result, 1, data, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("result: %d\n", result);

  aclrtDestroyStream(stream);
  aclrtFree(data);
  aclrtResetDevice(0);
  return aclFinalize();
}
