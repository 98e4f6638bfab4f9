// SPDX-License-Identifier: Apache-2.0
// A block is freed twice.
#include "program.h"

int main() {
  begin();
  void* memory = floats();
  must(aclrtFree(memory));
#ifndef REPAIRED
  aclrtFree(memory);
#endif
  end();
}
