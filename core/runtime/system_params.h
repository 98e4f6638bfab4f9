// SPDX-License-Identifier: Apache-2.0
// The options of aclSysParamOpt. They are kept and read back; nothing depends on them, because
// every operator is deterministic anyway.
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
  // No value where the option was never set.
  SOFTNPU_EXPORT Status get(int option, std::optional<int64_t>& value) const;

 private:
  static constexpr int kOptions = 3;
  static Status check(int option);

  // Without a lock, which a fork() could find held.
  struct Option {
    std::atomic<int64_t> value{0};
    std::atomic<bool> is_set{false};  // after the value
  };
  Option options_[kOptions];
};

// The options of the process; each context has options of its own, too.
SOFTNPU_EXPORT SystemParams& process_params();

}  // namespace softnpu::runtime
