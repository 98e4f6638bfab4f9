// SPDX-License-Identifier: Apache-2.0
#include "runtime/system_params.h"

#include "base/lasting.h"

namespace softnpu::runtime {

Status SystemParams::check(int option) {
  if (option >= 0 && option < kOptions) return {};
  return fail("option-unknown"_rule, kRtParamInvalid, "opt is ", option,
              "; it must be ACL_OPT_DETERMINISTIC (0), ACL_OPT_ENABLE_DEBUG_KERNEL (1) or "
              "ACL_OPT_STRONG_CONSISTENCY (2)");
}

Status SystemParams::set(int option, int64_t value) {
  RETURN_IF_FAILED(check(option));
  options_[option].value.store(value, std::memory_order_relaxed);
  options_[option].is_set.store(true, std::memory_order_release);
  return {};
}

Status SystemParams::get(int option, std::optional<int64_t>& value) const {
  RETURN_IF_FAILED(check(option));
  const Option& kept = options_[option];
  value.reset();
  if (kept.is_set.load(std::memory_order_acquire))
    value = kept.value.load(std::memory_order_relaxed);
  return {};
}

SystemParams& process_params() { return lasting<SystemParams>; }

}  // namespace softnpu::runtime
