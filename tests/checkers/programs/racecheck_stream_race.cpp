// SPDX-License-Identifier: Apache-2.0
// A second stream reads what the first one writes, and no event orders them.
#include "program.h"

int main() {
  begin();
  aclrtStream first, second;
  aclrtEvent done;
  must(aclrtCreateStream(&first));
  must(aclrtCreateStream(&second));
  must(aclrtCreateEvent(&done));
  void *input = floats(), *middle = floats(false), *output = floats(false);
  Elu one(input, middle), two(middle, output);
  one.plan();
  two.plan();
  one.launch(first);
#ifdef REPAIRED
  must(aclrtRecordEvent(done, first));
  must(aclrtStreamWaitEvent(second, done));
#endif
  two.launch(second);
  must(aclrtSynchronizeStream(first));
  must(aclrtSynchronizeStream(second));
  one.destroy();
  two.destroy();
  for (void* each : {input, middle, output}) must(aclrtFree(each));
  must(aclrtDestroyEvent(done));
  must(aclrtDestroyStream(first));
  must(aclrtDestroyStream(second));
  end();
}
