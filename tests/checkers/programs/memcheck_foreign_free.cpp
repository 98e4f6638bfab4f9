// SPDX-License-Identifier: Apache-2.0
// Memory that malloc() gave is freed as device memory.
#include "program.h"

int main() {
  begin();
  void* memory = std::malloc(64);
#ifndef REPAIRED
  aclrtFree(memory);
#endif
  std::free(memory);
  end();
}
