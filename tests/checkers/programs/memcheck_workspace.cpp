// SPDX-License-Identifier: Apache-2.0
// Phase two gets no workspace although phase one asked for one.
#include "program.h"

int main() {
  begin();
  void *self = floats(), *out = floats(false);
  Elu elu(self, out);
  elu.plan();
#ifndef REPAIRED
  aclnnElu(nullptr, 0, elu.executor, nullptr);
  must(aclDestroyAclOpExecutor(elu.executor));
#else
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
#endif
  elu.destroy();
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
