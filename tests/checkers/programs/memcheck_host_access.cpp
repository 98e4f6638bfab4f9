// SPDX-License-Identifier: Apache-2.0
// The program reads device memory itself. On softnpu alone that would work; an NPU is elsewhere.
#include "program.h"

int main() {
  begin();
  void* memory = floats();
#ifndef REPAIRED
  std::printf("%f\n", static_cast<float*>(memory)[3]);
#else
  float values[4];
  must(aclrtMemcpy(values, sizeof values, memory, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
  std::printf("%f\n", values[3]);
#endif
  must(aclrtFree(memory));
  end();
}
