// SPDX-License-Identifier: Apache-2.0
// Device memory is never freed.
#include "program.h"

int main() {
  begin();
  void* memory[3];
  for (void*& each : memory) each = floats();
#ifdef REPAIRED
  for (void* each : memory) must(aclrtFree(each));
#endif
  end();
}
