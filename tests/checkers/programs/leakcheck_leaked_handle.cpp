// SPDX-License-Identifier: Apache-2.0
// A tensor is never destroyed.
#include "program.h"

int main() {
  begin();
  void* memory = floats();
  aclTensor* view = tensor(memory);
#ifdef REPAIRED
  must(aclDestroyTensor(view));
#else
  (void)view;
#endif
  must(aclrtFree(memory));
  end();
}
