// SPDX-License-Identifier: Apache-2.0
// Phase one without phase two.
#include "program.h"

int main() {
  begin();
  void *self = floats(), *out = floats(false);
  Elu elu(self, out);
  elu.plan();
#ifdef REPAIRED
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
#endif
  elu.destroy();
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
