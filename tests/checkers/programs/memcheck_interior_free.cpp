// SPDX-License-Identifier: Apache-2.0
// An address inside an allocation is freed.
#include "program.h"

int main() {
  begin();
  void* memory = floats();
#ifndef REPAIRED
  aclrtFree(static_cast<float*>(memory) + 4);
#endif
  must(aclrtFree(memory));
  end();
}
