// SPDX-License-Identifier: Apache-2.0
// aclnnSmoothL1LossBackward: gradInput = gradOut · clamp(d / beta, -1, 1) · norm, d = self −
// target.
#include "ops/smooth_l1_loss_backward.h"

#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "kernels/smooth_l1_loss_backward.h"
#include "kernels/table.h"
#include "ops/smooth_l1.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits SmoothL1LossBackward::kTraits = {
    .name = "aclnnSmoothL1LossBackward",
    .products = {ascend950, ascend910_93, ascend910b, ascend310p, ascend910},
    .in_place = true,
};

Status SmoothL1LossBackward::check_pointers(const Args& a) {
  REQUIRE(a.grad_out, kParamNullptr, "grad-out-null"_rule, "gradOut is null");
  REQUIRE(a.self, kParamNullptr, "self-null"_rule, "self is null");
  REQUIRE(a.target, kParamNullptr, "target-null"_rule, "target is null");
  REQUIRE(a.grad_input, kParamNullptr, "grad-input-null"_rule, "gradInput is null");
  return {};
}

Status SmoothL1LossBackward::check(const Args& a) {
  const auto tensors = operands(a);
  RETURN_IF_FAILED(check_float_types(tensors, "dtype-unsupported"_rule));
  RETURN_IF_FAILED(check_ranks(tensors, "rank"_rule));
  RETURN_IF_FAILED(check_reduction(a.reduction, "reduction"_rule));
  RETURN_IF_FAILED(check_beta(a.beta, "beta"_rule));
  if (have_one_shape(tensors)) return {};  // the usual case
  const auto pair = broadcast_sizes(a.self->sizes, a.target->sizes);
  const auto all = pair ? broadcast_sizes(*pair, a.grad_out->sizes) : std::nullopt;
  REQUIRE(all.has_value(), kParamInvalid, "broadcast"_rule, "gradOut has shape ", a.grad_out->sizes,
          ", self ", a.self->sizes, " and target ", a.target->sizes,
          "; they do not broadcast together");
  REQUIRE(a.grad_input->sizes == *all, kParamInvalid, "grad-input-shape"_rule,
          "gradInput has shape ", a.grad_input->sizes,
          ", but gradOut, self and target broadcast to ", *all);
  return {};
}

SmoothL1LossBackward::Plan SmoothL1LossBackward::plan(const Args& a) {
  const Tensor* const tensors[] = {a.grad_out.tensor, a.self.tensor, a.target.tensor,
                                   a.grad_input.tensor};
  double norm = 1;
  if (a.reduction == kMean) {  // over the forward's output, which gradOut has no part in
    const Dims forward = *broadcast_sizes(a.self->sizes, a.target->sizes);
    // More than int64 holds are only where gradInput is empty.
    norm = 1 / static_cast<double>(checked_numel(forward).value_or(1));
  }
  const double beta = static_cast<float>(a.beta);
  const kernels::SmoothL1LossBackwardNumbers numbers{
      .beta = beta, .norm = norm, .norm_over_beta = norm / beta};
  return Plan(tensors, kernels::active_table().smooth_l1_loss_backward, numbers);
}

}  // namespace softnpu::ops

using softnpu::ops::SmoothL1LossBackward;

extern "C" aclnnStatus aclnnSmoothL1LossBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* self, const aclTensor* target, int64_t reduction,
    float beta, aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return softnpu::phase_one<SmoothL1LossBackward>(
      CALL(gradOut, self, target, reduction, beta, gradInput, workspaceSize, executor),
      workspaceSize, executor, [&](softnpu::Handles& h) -> SmoothL1LossBackward::Args {
        return {.grad_out = h.tensor("gradOut", gradOut),
                .self = h.tensor("self", self),
                .target = h.tensor("target", target),
                .reduction = reduction,
                .beta = beta,
                .grad_input = h.tensor("gradInput", gradInput)};
      });
}

extern "C" aclnnStatus aclnnSmoothL1LossBackward(void* workspace, uint64_t workspaceSize,
                                                 aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  SmoothL1LossBackward::kTraits, workspace, workspaceSize, executor,
                                  stream);
}
