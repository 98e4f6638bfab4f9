// SPDX-License-Identifier: Apache-2.0
// A copy between two places of device memory says that it comes from the host.
#include "program.h"

int main() {
  begin();
  void *first = floats(), *second = floats();
#ifndef REPAIRED
  must(aclrtMemcpy(second, kBytes, first, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
#else
  must(aclrtMemcpy(second, kBytes, first, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
#endif
  must(aclrtFree(first));
  must(aclrtFree(second));
  end();
}
