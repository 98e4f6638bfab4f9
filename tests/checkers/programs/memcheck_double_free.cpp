// SPDX-License-Identifier: Apache-2.0
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
