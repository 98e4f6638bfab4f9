// SPDX-License-Identifier: Apache-2.0
// A copy fails, because its destination is too small, and the program ignores its status.
#include "program.h"

int main() {
  begin();
  void* memory = floats();
  float result[kCount] = {};
#ifndef REPAIRED
  aclrtMemcpy(result, kBytes / 2, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
#else
  must(aclrtMemcpy(result, sizeof result, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
#endif
  must(aclrtFree(memory));
  end();
}
