// SPDX-License-Identifier: Apache-2.0
// Calls from an exit handler, when the main thread's own objects are gone already. The program's
// exit status says how they went: 0 is well.
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

namespace {

aclrtStream destroyed = nullptr;
aclrtStream alive = nullptr;
void* block = nullptr;
const char* earlier = nullptr;  // a message that main() was given
char expected[200] = "";

void at_exit() {
  const bool kept = std::strcmp(earlier, expected) == 0;
  // Long messages live on the heap, where a use after free would show.
  const bool refused = aclrtDestroyStream(destroyed) == ACL_ERROR_RT_INVALID_HANDLE;
  const char* message = aclGetRecentErrMsg();
  const bool told = message != nullptr && std::strstr(message, "destroyed aclrtStream") != nullptr;
  const bool freed = aclrtFree(block) == ACL_SUCCESS;
  const bool ended = aclrtDestroyStream(alive) == ACL_SUCCESS;
  std::_Exit(kept && refused && told && freed && ended ? 0 : 1);
}

}  // namespace

int main() {
  // Before the library's first thread-local object, so that the handler runs after its destruction.
  std::atexit(at_exit);
  if (aclrtSetDevice(0) != ACL_SUCCESS) return 2;
  if (aclrtCreateStream(&destroyed) != ACL_SUCCESS) return 3;
  if (aclrtCreateStream(&alive) != ACL_SUCCESS) return 4;
  if (aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 5;
  if (aclrtDestroyStream(destroyed) != ACL_SUCCESS) return 6;
  if (aclrtDestroyStream(destroyed) != ACL_ERROR_RT_INVALID_HANDLE) return 7;
  earlier = aclGetRecentErrMsg();
  if (earlier == nullptr) return 8;
  std::strncpy(expected, earlier, sizeof expected - 1);
  if (aclrtDestroyStream(destroyed) != ACL_ERROR_RT_INVALID_HANDLE) return 9;
  return 10;  // replaced by the handler
}
