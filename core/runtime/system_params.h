// SPDX-License-Identifier: Apache-2.0
// The options of aclSysParamOpt. They are stored and returned, but have no effect, because every
// operator is deterministic.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

class SystemParams {
 public:
  SOFTNPU_EXPORT Status set(int option, int64_t value);
  // No value if the option was never set.
  SOFTNPU_EXPORT Status get(int option, std::optional<int64_t>& value) const;

 private:
  static constexpr int kOptions = 3;
  static Status check(int option);

  // Lock-free, because a fork() could find a lock held.
  struct Option {
    std::atomic<int64_t> value{0};
    std::atomic<bool> is_set{false};  // stored after the value
  };
  Option options_[kOptions];
};

// The options of the process. Each context has its own, too.
SOFTNPU_EXPORT SystemParams& process_params();

}  // namespace softnpu::runtime
