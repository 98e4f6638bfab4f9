// SPDX-License-Identifier: Apache-2.0
// The latest message and the latest runtime code of each thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/export.h"
#include "base/status.h"

namespace softnpu {

// Stores the message of a failure, in one line, for aclGetRecentErrMsg. Ignores a success.
SOFTNPU_EXPORT void remember_message(const Status& status) noexcept;

// Returns the message once, then nullptr. The pointer stays valid until the thread's next call.
SOFTNPU_EXPORT const char* take_message() noexcept;

// The rule of the message that was taken last; "" if there was no memory for it.
SOFTNPU_EXPORT std::string_view rule_of_taken_message() noexcept;

// The code that aclrtGetLastError (which clears it) and aclrtPeekAtLastError return.
SOFTNPU_EXPORT void remember_runtime_code(int32_t code) noexcept;
SOFTNPU_EXPORT int32_t last_runtime_code() noexcept;

}  // namespace softnpu
