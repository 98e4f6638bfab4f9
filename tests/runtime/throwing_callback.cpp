// SPDX-License-Identifier: Apache-2.0
// Callbacks that throw. The program's exit status says how that went: 0 is well.
#include <pthread.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "acl/acl.h"

namespace {

// Whether a thread that runs the callback is told so, in one line that names its call.
bool is_reported(aclrtCallback callback) {
  if (aclrtLaunchCallback(callback, nullptr, ACL_CALLBACK_NO_BLOCK, nullptr) != ACL_SUCCESS)
    return false;
  if (aclrtProcessReport(10000) != ACL_ERROR_RT_INTERNAL_ERROR) return false;
  const char* const message = aclGetRecentErrMsg();
  if (message == nullptr) return false;
  std::fprintf(stderr, "%s\n", message);
  return std::strncmp(message, "aclrtProcessReport: ", 20) == 0 &&
         std::strchr(message, '\n') == nullptr;
}

}  // namespace

int main() {
  if (aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  if (aclrtSubscribeReport(pthread_self(), nullptr) != ACL_SUCCESS) return 2;
  if (!is_reported([](void*) { throw std::runtime_error("two\nlines"); })) return 3;
  if (!is_reported([](void*) { throw 42; })) return 4;
  return 0;
}
