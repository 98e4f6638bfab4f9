// SPDX-License-Identifier: Apache-2.0
// Tensors are destroyed between the two phases.
#include "program.h"

int main() {
  begin();
  void *self = floats(), *out = floats(false);
  Elu elu(self, out);
  elu.plan();
#ifndef REPAIRED
  elu.destroy();
  must(aclrtMalloc(&elu.workspace, elu.size, ACL_MEM_MALLOC_HUGE_FIRST));
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
  must(aclrtFree(elu.workspace));
#else
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
  elu.destroy();
#endif
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
