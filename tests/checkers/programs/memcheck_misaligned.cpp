// SPDX-License-Identifier: Apache-2.0
// A tensor begins at an odd address.
#include "program.h"

int main() {
  begin();
  void *self = floats(), *out = nullptr;
  must(aclrtMalloc(&out, kBytes + 4, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef REPAIRED
  Elu elu(self, static_cast<char*>(out) + 1);
  aclnnEluGetWorkspaceSize(elu.self, elu.one, elu.one, elu.one, elu.out, &elu.size, &elu.executor);
#else
  Elu elu(self, static_cast<char*>(out) + 4);
  elu.plan();
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
#endif
  elu.destroy();
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
