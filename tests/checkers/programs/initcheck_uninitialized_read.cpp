// SPDX-License-Identifier: Apache-2.0
// An operator reads memory that nothing wrote.
#include "program.h"

int main() {
  begin();
#ifndef REPAIRED
  void* self = floats(false);
#else
  void* self = floats();
#endif
  void* out = floats(false);
  Elu elu(self, out);
  elu.plan();
  elu.launch(nullptr);
  must(aclrtSynchronizeStream(nullptr));
  elu.destroy();
  must(aclrtFree(self));
  must(aclrtFree(out));
  end();
}
