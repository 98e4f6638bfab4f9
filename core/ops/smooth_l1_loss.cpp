// SPDX-License-Identifier: Apache-2.0
// aclnnSmoothL1Loss: d² / (2 · beta) where |d| < beta, else |d| − beta / 2, d = self − target; for
// each element, their mean, or their sum.
#include "ops/operators.h"

#include "kernels/smooth_l1_loss.h"
#include "kernels/table.h"
#include "ops/smooth_l1.h"

namespace softnpu::ops {

Status SmoothL1Loss::check_reduction(const Args& a) {
  return require_reduction(a.reduction, "reduction"_rule);
}

Status SmoothL1Loss::check_beta(const Args& a) { return require_beta(a.beta, "beta"_rule); }

Status SmoothL1Loss::check_shapes(const Args& a) {
  const auto tensors = operands(a);
  if (a.reduction == kNone && have_one_shape(tensors)) return {};  // the usual case
  const auto all = broadcast_sizes(a.self->sizes, a.target->sizes);
  REQUIRE(all.has_value(), kParamInvalid, "broadcast"_rule, "self has shape ", a.self->sizes,
          " and target ", a.target->sizes, "; they do not broadcast together");
  REQUIRE(checked_numel(*all).has_value(), kParamInvalid, "broadcast"_rule, "self has shape ",
          a.self->sizes, " and target ", a.target->sizes, "; they broadcast to ", *all,
          ", which is more than 2^63 - 1 elements");
  const Dims& result = a.result->sizes;
  if (a.reduction == kNone)
    REQUIRE(result == *all, kParamInvalid, "result-shape"_rule, "result has shape ", result,
            ", but self and target broadcast to ", *all);
  else
    REQUIRE(result.empty() || result == Dims{1}, kParamInvalid, "result-shape"_rule,
            "result has shape ", result, "; for reduction ", a.reduction,
            a.reduction == kMean ? " (mean)" : " (sum)", " it must be [1] or []");
  return {};
}

SmoothL1Loss::Plan SmoothL1Loss::plan(const Args& a) {
  const kernels::SmoothL1LossNumbers numbers(static_cast<float>(a.beta));
  const kernels::KernelTable& table = kernels::active_table();
  const Tensor* const tensors[] = {a.self.tensor, a.target.tensor, a.result.tensor};
  if (a.reduction == kNone)
    return Plan(loops::ElementwisePlan(tensors, table.smooth_l1_loss, numbers));
  const Dims all = *broadcast_sizes(a.self->sizes, a.target->sizes);
  const auto elements = static_cast<double>(*checked_numel(all));
  return Plan(loops::SumPlan(std::span(tensors).first<2>(), all, table.smooth_l1_loss_sum, numbers,
                             a.reduction == kMean ? elements : 1, a.result->dtype));
}

void SmoothL1Loss::describe(const Args& a, Tensor& out) {
  out.dtype = promote(a.self->dtype, a.target->dtype);
  if (a.reduction != kNone) return;  // one number, of rank 0
  // If the inputs do not broadcast, a check reports it before it uses the output.
  const auto all = broadcast_sizes(a.self->sizes, a.target->sizes);
  out.sizes = all ? *all : a.self->sizes;
}

}  // namespace softnpu::ops
