// SPDX-License-Identifier: Apache-2.0
// An input is overwritten although the operator may still read it.
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
  const std::vector<float> next(kCount, 2.0f);
  must(aclrtMemcpy(self, kBytes, next.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtSynchronizeStream(nullptr));
  elu.destroy();
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
