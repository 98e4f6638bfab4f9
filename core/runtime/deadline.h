// SPDX-License-Identifier: Apache-2.0
// How long a call may wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/status.h"

namespace softnpu::runtime {

struct Deadline {
  std::chrono::steady_clock::time_point end;
  int32_t milliseconds = 0;  // the caller's timeout; 0: none, and `end` is not used

  bool has_passed() const { return milliseconds > 0 && std::chrono::steady_clock::now() >= end; }
};

inline Deadline deadline_in(std::chrono::milliseconds time) {
  return {std::chrono::steady_clock::now() + time, static_cast<int32_t>(time.count())};
}

inline Deadline earlier(const Deadline& a, const Deadline& b) {
  if (a.milliseconds == 0 || b.milliseconds == 0) return a.milliseconds == 0 ? b : a;
  return a.end < b.end ? a : b;
}

// -1 waits for ever, a positive number is milliseconds.
inline Status parse_timeout(int32_t milliseconds, Deadline& out) {
  if (milliseconds < -1 || milliseconds == 0)
    return fail("timeout-invalid"_rule, kRtParamInvalid, "timeout is ", milliseconds,
                "; it must be -1 (for ever) or above 0 (milliseconds)");
  out = milliseconds > 0 ? deadline_in(std::chrono::milliseconds(milliseconds)) : Deadline();
  return {};
}

// Returns false after the deadline. Wakeups may be spurious.
inline bool wait(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 const Deadline& deadline) {
  if (deadline.milliseconds > 0)
    return condition.wait_until(lock, deadline.end) == std::cv_status::no_timeout;
  condition.wait(lock);
  return true;
}

}  // namespace softnpu::runtime
