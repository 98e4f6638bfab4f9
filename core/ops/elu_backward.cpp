// SPDX-License-Identifier: Apache-2.0
// aclnnEluBackward: gradInput = gradOutput · elu'(x), from the forward's output or from its input.
#include "ops/operators.h"

#include "kernels/elu_backward.h"
#include "kernels/table.h"

namespace softnpu::ops {

Status EluBackward::check_alpha(const Args& a) {
  REQUIRE(!(a.is_result && to_float(*a.alpha) < 0), kParamInvalid, "alpha-negative"_rule,
          "alpha is ", *a.alpha, "; it must not be negative when isResult is true");
  return {};
}

EluBackward::Plan EluBackward::plan(const Args& a) {
  const double alpha = to_float(*a.alpha);
  const double scale = to_float(*a.scale);
  const double input_scale = to_float(*a.input_scale);
  const Tensor* const tensors[] = {a.grad_output.tensor, a.self_or_result.tensor,
                                   a.grad_input.tensor};
  const kernels::EluBackwardNumbers numbers{.scale = scale,
                                            .alpha_scale = alpha * scale,
                                            .input_scale = input_scale,
                                            .input_alpha_scale = input_scale * alpha * scale};
  const kernels::KernelTable& table = kernels::active_table();
  const auto kernel = a.is_result ? table.elu_backward_from_result : table.elu_backward_from_input;
  return Plan(tensors, kernel, numbers);
}

}  // namespace softnpu::ops
