// SPDX-License-Identifier: Apache-2.0
// The time between two events, one of which was never recorded.
#include "program.h"

int main() {
  begin();
  aclrtEvent start, stop;
  must(aclrtCreateEvent(&start));
  must(aclrtCreateEvent(&stop));
  must(aclrtRecordEvent(start, nullptr));
#ifdef REPAIRED
  must(aclrtRecordEvent(stop, nullptr));
#endif
  must(aclrtSynchronizeStream(nullptr));
  float milliseconds;
  aclrtEventElapsedTime(&milliseconds, start, stop);
  must(aclrtDestroyEvent(start));
  must(aclrtDestroyEvent(stop));
  end();
}
