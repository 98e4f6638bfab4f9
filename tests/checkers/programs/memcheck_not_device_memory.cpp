// SPDX-License-Identifier: Apache-2.0
// A tensor lies in host memory.
#include "program.h"

int main() {
  begin();
  void* out = floats(false);
#ifndef REPAIRED
  std::vector<float> values(kCount);
  Elu elu(values.data(), out);
  aclnnEluGetWorkspaceSize(elu.self, elu.one, elu.one, elu.one, elu.out, &elu.size, &elu.executor);
  elu.destroy();
#else
  void* self = floats();
  Elu elu(self, out);
  elu.plan();
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
  elu.destroy();
  must(aclrtFree(self));
#endif
  must(aclrtFree(out));
  end();
}
