// SPDX-License-Identifier: Apache-2.0
#include "ops/smooth_l1.h"

namespace softnpu::ops {

Status check_float_types(std::span<const Operand> tensors, RuleId rule) {
  for (const Operand& o : tensors)
    if (!is_supported_float(o.arg->dtype))
      return fail(rule, kParamInvalid, o.name, " has data type ", o.arg->dtype, supported_floats());
  for (const Operand& o : tensors) RETURN_IF_FAILED(check_format(o.name, *o.arg));
  return {};
}

Status check_ranks(std::span<const Operand> tensors, RuleId rule) {
  for (const Operand& o : tensors)
    if (o.arg->rank() > 8)
      return fail(rule, kParamInvalid, o.name, " has rank ", o.arg->rank(),
                  "; at most 8 is supported");
  return {};
}

Status check_reduction(int64_t reduction, RuleId rule) {
  if (reduction >= kNone && reduction <= kSum) return {};
  return fail(rule, kParamInvalid, "reduction is ", reduction,
              "; expected 0 (none), 1 (mean) or 2 (sum)");
}

Status check_beta(double beta, RuleId rule) {
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
