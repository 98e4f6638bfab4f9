// SPDX-License-Identifier: Apache-2.0
// The latest message and the latest runtime code of each thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/export.h"
#include "base/status.h"

namespace softnpu {

// Keeps a failure's message, in one line, for aclGetRecentErrMsg; a success changes nothing.
SOFTNPU_EXPORT void remember_message(const Status& status) noexcept;

// The message and nullptr afterwards. The pointer stays valid until the thread's next call.
SOFTNPU_EXPORT const char* take_message() noexcept;

// The rule of the message that was taken last; "" after one that there was no memory for.
SOFTNPU_EXPORT std::string_view rule_of_taken_message() noexcept;

// The code that aclrtGetLastError (clears) and aclrtPeekAtLastError report.
SOFTNPU_EXPORT void remember_runtime_code(int32_t code) noexcept;
SOFTNPU_EXPORT int32_t last_runtime_code() noexcept;

}  // namespace softnpu
