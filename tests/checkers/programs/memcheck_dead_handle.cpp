// SPDX-License-Identifier: Apache-2.0
// A tensor is destroyed twice.
#include "program.h"

int main() {
  begin();
  void* memory = floats();
  aclTensor* once = tensor(memory);
  must(aclDestroyTensor(once));
#ifndef REPAIRED
  aclDestroyTensor(once);
#endif
  must(aclrtFree(memory));
  end();
}
