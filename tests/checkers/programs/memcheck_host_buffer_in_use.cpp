// SPDX-License-Identifier: Apache-2.0
// The program fills a buffer again although an asynchronous copy may still read it.
#include "program.h"

int main() {
  begin();
  void *memory = floats(), *buffer = nullptr;
  must(aclrtMallocHost(&buffer, kBytes));
  float* const values = static_cast<float*>(buffer);
  for (int i = 0; i < kCount; ++i) values[i] = 2.0f;
  must(aclrtMemcpyAsync(memory, kBytes, buffer, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
#ifdef REPAIRED
  must(aclrtSynchronizeStream(nullptr));
#endif
  values[0] = 3.0f;
  must(aclrtSynchronizeStream(nullptr));
  must(aclrtFree(memory));
  must(aclrtFreeHost(buffer));
  end();
}
