// SPDX-License-Identifier: Apache-2.0
#include "c_function.h"

namespace softnpu::python {
namespace {

std::string message() {
  const char* text = aclGetRecentErrMsg();
  return text != nullptr ? text : "no message";
}

}  // namespace

void check(aclError status) {
  if (status != ACL_SUCCESS) [[unlikely]]
    raise(Status(status, message()));
}

uintptr_t check_created(const void* handle) {
  if (handle == nullptr) [[unlikely]]
    raise(Status(kParamInvalid, message()));
  return reinterpret_cast<uintptr_t>(handle);
}

}  // namespace softnpu::python
