// SPDX-License-Identifier: Apache-2.0
// The wrapper of the runtime's C entry points.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "acl/acl_base.h"
#include "base/guard.h"
#include "runtime/deadline.h"

namespace softnpu::runtime {

// Runs `body`, which returns a Status, in guard(). A failure stores its message for
// aclGetRecentErrMsg and, in an aclrt function, its code for aclrtGetLastError.
template <class Body>
aclError entry(const Call& call, Body&& body) {
  const bool is_runtime = call.function().starts_with("aclrt");
  const int32_t internal = is_runtime ? kRtInternalError : kAclInternalError;
  const int32_t code = guard(call, {kAclBadAlloc, internal}, std::forward<Body>(body));
  if (code != kSuccess && is_runtime) [[unlikely]]
    remember_runtime_code(code);
  return code;
}

template <class Body>
aclError entry_until(const Call& call, int32_t timeout, Body&& body) {
  return entry(call, [&]() -> Status {
    Deadline deadline;
    RETURN_IF_FAILED(parse_timeout(timeout, deadline));
    return body(deadline);
  });
}

// Writes to an out-parameter, which may be null.
template <class T, class Value>
Status store(std::string_view name, T* out, Value value) {
  if (out == nullptr) return fail("output-pointer-null"_rule, kRtParamInvalid, name, " is null");
  *out = static_cast<T>(value);
  return {};
}

}  // namespace softnpu::runtime
