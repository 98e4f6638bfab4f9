// SPDX-License-Identifier: Apache-2.0
// A stream waits for an event that was never recorded.
#include "program.h"

int main() {
  begin();
  aclrtStream stream;
  aclrtEvent event;
  must(aclrtCreateStream(&stream));
  must(aclrtCreateEvent(&event));
#ifdef REPAIRED
  must(aclrtRecordEvent(event, nullptr));
#endif
  must(aclrtStreamWaitEvent(stream, event));
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyEvent(event));
  must(aclrtDestroyStream(stream));
  end();
}
