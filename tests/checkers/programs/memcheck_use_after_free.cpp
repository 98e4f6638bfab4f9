// SPDX-License-Identifier: Apache-2.0
// A tensor lies in memory that was freed.
#include "program.h"

int main() {
  begin();
  void *self = floats(), *out = floats(false);
  Elu elu(self, out);
#ifndef REPAIRED
  must(aclrtFree(self));
  aclnnEluGetWorkspaceSize(elu.self, elu.one, elu.one, elu.one, elu.out, &elu.size, &elu.executor);
#else
  elu.plan();
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
  must(aclrtFree(self));
#endif
  elu.destroy();
  must(aclrtFree(out));
  end();
}
