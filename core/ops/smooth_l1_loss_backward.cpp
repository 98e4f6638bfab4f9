// SPDX-License-Identifier: Apache-2.0
// aclnnSmoothL1LossBackward: gradInput = gradOut · clamp(d / beta, -1, 1) · norm, d = self −
// target.
#include "ops/operators.h"

#include "kernels/smooth_l1_loss_backward.h"
#include "kernels/table.h"
#include "ops/smooth_l1.h"

namespace softnpu::ops {

Status SmoothL1LossBackward::check_reduction(const Args& a) {
  return require_reduction(a.reduction, "reduction"_rule);
}

Status SmoothL1LossBackward::check_beta(const Args& a) { return require_beta(a.beta, "beta"_rule); }

Status SmoothL1LossBackward::check_shapes(const Args& a) {
  const auto tensors = operands(a);
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
  if (a.reduction == kMean) {  // of the forward's output, whose size does not depend on gradOut
    const Dims forward = *broadcast_sizes(a.self->sizes, a.target->sizes);
    // The product can overflow only if gradInput is empty.
    norm = 1 / static_cast<double>(checked_numel(forward).value_or(1));
  }
  const double beta = static_cast<float>(a.beta);
  const kernels::SmoothL1LossBackwardNumbers numbers{
      .beta = beta, .norm = norm, .norm_over_beta = norm / beta};
  return Plan(tensors, kernels::active_table().smooth_l1_loss_backward, numbers);
}

void SmoothL1LossBackward::describe(const Args& a, Tensor& out) {
  out.dtype = promote(promote(a.grad_out->dtype, a.self->dtype), a.target->dtype);
  // If the inputs do not broadcast, a check reports it before it uses the output.
  const auto pair = broadcast_sizes(a.self->sizes, a.target->sizes);
  const auto all = pair ? broadcast_sizes(*pair, a.grad_out->sizes) : std::nullopt;
  out.sizes = all ? *all : a.self->sizes;
}

}  // namespace softnpu::ops
