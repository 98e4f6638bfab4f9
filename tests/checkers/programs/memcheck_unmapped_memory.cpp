// SPDX-License-Identifier: Apache-2.0
// A copy uses a reserved address at which no memory is mapped any more.
#include "program.h"

int main() {
  begin();
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  size_t size = 0;
  must(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
  void* range = nullptr;
  must(aclrtReserveMemAddress(&range, size, 0, nullptr, 0));
  aclrtDrvMemHandle memory = nullptr;
  must(aclrtMallocPhysical(&memory, size, &prop, 0));
  must(aclrtMapMem(range, size, 0, memory, 0));
  must(aclrtMemset(range, size, 1, size));
#ifdef REPAIRED
  char byte;
  must(aclrtMemcpy(&byte, 1, range, 1, ACL_MEMCPY_DEVICE_TO_HOST));
#endif
  must(aclrtUnmapMem(range));
#ifndef REPAIRED
  char byte;
  aclrtMemcpy(&byte, 1, range, 1, ACL_MEMCPY_DEVICE_TO_HOST);
#endif
  must(aclrtFreePhysical(memory));
  must(aclrtReleaseMemAddress(range));
  end();
}
