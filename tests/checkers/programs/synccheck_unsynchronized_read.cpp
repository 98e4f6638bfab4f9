// SPDX-License-Identifier: Apache-2.0
// A result is copied to the host before the stream was synchronised.
#include "program.h"

int main() {
  begin();
  aclrtStream stream;
  must(aclrtCreateStream(&stream));
  void *self = floats(), *out = floats(false);
  Elu elu(self, out);
  elu.plan();
  elu.launch(stream);
#ifdef REPAIRED
  must(aclrtSynchronizeStream(stream));
#endif
  std::vector<float> result(kCount);
  must(aclrtMemcpy(result.data(), kBytes, out, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtSynchronizeStream(stream));
  elu.destroy();
  must(aclrtFree(self));
  must(aclrtFree(out));
  must(aclrtDestroyStream(stream));
  end();
}
