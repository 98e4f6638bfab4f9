// SPDX-License-Identifier: Apache-2.0
// A copy writes past the end of an allocation.
#include "program.h"

int main() {
  begin();
  void* memory = floats();
  const std::vector<float> values(kCount + 1);
#ifndef REPAIRED
  const size_t bytes = kBytes + sizeof(float);
#else
  const size_t bytes = kBytes;
#endif
  aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  must(aclrtFree(memory));
  end();
}
