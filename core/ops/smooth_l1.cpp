// SPDX-License-Identifier: Apache-2.0
#include "ops/smooth_l1.h"

namespace softnpu::ops {

Status require_reduction(int64_t reduction, RuleId rule) {
  if (reduction >= kNone && reduction <= kSum) return {};
  return fail(rule, kParamInvalid, "reduction is ", reduction,
              "; expected 0 (none), 1 (mean) or 2 (sum)");
}

Status require_beta(double beta, RuleId rule) {
  const auto used = static_cast<float>(beta);
  if (used >= 0) return {};
  return fail(rule, kParamInvalid, "beta is ", used == beta ? text(used) : text(beta),
              "; it must be a number that is not negative");
}

bool have_one_shape(std::span<const Operand> tensors) {
  for (const Operand& o : tensors)
    if (!(o.arg->sizes == tensors.front().arg->sizes)) return false;
  return true;
}

}  // namespace softnpu::ops
