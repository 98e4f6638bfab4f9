// SPDX-License-Identifier: Apache-2.0
// aclnnSmoothL1Loss: d² / (2 · beta) where |d| < beta, else |d| − beta / 2, d = self − target; for
// each element, their mean, or their sum.
#include "ops/smooth_l1_loss.h"

#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "kernels/smooth_l1_loss.h"
#include "kernels/table.h"
#include "ops/smooth_l1.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits SmoothL1Loss::kTraits = {
    .name = "aclnnSmoothL1Loss",
    .products = {ascend950, ascend910_93, ascend910b, ascend310p, ascend910},
    .in_place = true,
};

Status SmoothL1Loss::check_pointers(const Args& a) {
  REQUIRE(a.self, kParamNullptr, "self-null"_rule, "self is null");
  REQUIRE(a.target, kParamNullptr, "target-null"_rule, "target is null");
  REQUIRE(a.result, kParamNullptr, "result-null"_rule, "result is null");
  return {};
}

Status SmoothL1Loss::check(const Args& a) {
  const auto tensors = operands(a);
  RETURN_IF_FAILED(check_float_types(tensors, "dtype-unsupported"_rule));
  RETURN_IF_FAILED(check_ranks(tensors, "rank"_rule));
  RETURN_IF_FAILED(check_reduction(a.reduction, "reduction"_rule));
  RETURN_IF_FAILED(check_beta(a.beta, "beta"_rule));
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

}  // namespace softnpu::ops

using softnpu::ops::SmoothL1Loss;

extern "C" aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(const aclTensor* self,
                                                         const aclTensor* target, int64_t reduction,
                                                         float beta, aclTensor* result,
                                                         uint64_t* workspaceSize,
                                                         aclOpExecutor** executor) {
  return softnpu::phase_one<SmoothL1Loss>(
      CALL(self, target, reduction, beta, result, workspaceSize, executor), workspaceSize, executor,
      [&](softnpu::Handles& h) -> SmoothL1Loss::Args {
        return {.self = h.tensor("self", self),
                .target = h.tensor("target", target),
                .reduction = reduction,
                .beta = beta,
                .result = h.tensor("result", result)};
      });
}

extern "C" aclnnStatus aclnnSmoothL1Loss(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  SmoothL1Loss::kTraits, workspace, workspaceSize, executor,
                                  stream);
}
