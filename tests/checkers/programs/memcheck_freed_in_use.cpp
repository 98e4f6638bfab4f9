// SPDX-License-Identifier: Apache-2.0
// The workspace is freed although the operator may still run.
#include "program.h"

int main() {
  begin();
  void *self = floats(), *out = floats(false);
  Elu elu(self, out);
  elu.plan();
  elu.launch(nullptr);
#ifdef REPAIRED
  must(aclrtSynchronizeStream(nullptr));
#endif
  elu.destroy();  // and so the workspace
  must(aclrtSynchronizeStream(nullptr));
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
