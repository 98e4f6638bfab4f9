// SPDX-License-Identifier: Apache-2.0
// An executor is launched twice.
#include "program.h"

int main() {
  begin();
  void *self = floats(), *out = floats(false);
  Elu elu(self, out);
  elu.plan();
#ifdef REPAIRED
  must(aclSetAclOpExecutorRepeatable(elu.executor));
#endif
  elu.launch(nullptr);
  aclnnElu(elu.workspace, elu.size, elu.executor, nullptr);
  must(aclrtSynchronizeStream(nullptr));
#ifdef REPAIRED
  must(aclDestroyAclOpExecutor(elu.executor));
#endif
  elu.destroy();
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
