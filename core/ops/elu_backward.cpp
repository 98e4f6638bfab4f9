// SPDX-License-Identifier: Apache-2.0
// aclnnEluBackward: gradInput = gradOutput · elu'(x), from the forward's output or from its input.
#include "ops/elu_backward.h"

#include "aclnnop/aclnn_elu_backward.h"
#include "kernels/elu_backward.h"
#include "kernels/table.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits EluBackward::kTraits = {
    .name = "aclnnEluBackward",
    .products = {ascend950, ascend910_93, ascend910b, ascend310p, ascend910},
    .in_place = true,
};

Status EluBackward::check_pointers(const Args& a) {
  REQUIRE(a.grad_output, kParamNullptr, "grad-output-null"_rule, "gradOutput is null");
  REQUIRE(a.alpha, kParamNullptr, "alpha-null"_rule, "alpha is null");
  REQUIRE(a.scale, kParamNullptr, "scale-null"_rule, "scale is null");
  REQUIRE(a.input_scale, kParamNullptr, "input-scale-null"_rule, "inputScale is null");
  REQUIRE(a.self_or_result, kParamNullptr, "self-or-result-null"_rule, "selfOrResult is null");
  REQUIRE(a.grad_input, kParamNullptr, "grad-input-null"_rule, "gradInput is null");
  return {};
}

Status EluBackward::check(const Args& a) {
  const Tensor& grad_output = *a.grad_output;
  const Tensor& x = *a.self_or_result;
  const Tensor& grad_input = *a.grad_input;
  const std::pair<const char*, const Scalar*> scalars[] = {
      {"alpha", a.alpha}, {"scale", a.scale}, {"inputScale", a.input_scale}};

  REQUIRE(grad_output.dtype == x.dtype, kParamInvalid, "dtype-differs"_rule,
          "selfOrResult has data type ", x.dtype, ", but gradOutput has ", grad_output.dtype,
          "; they must be equal");
  REQUIRE(is_supported_float(grad_output.dtype), kParamInvalid, "dtype-unsupported"_rule,
          "gradOutput and selfOrResult have data type ", grad_output.dtype, supported_floats());
  for (const Operand& operand : operands(a))
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  for (const auto& [name, scalar] : scalars)
    REQUIRE(scalar->converts_to_float(), kParamInvalid, "scalar-type"_rule, name, " has data type ",
            scalar->dtype, ", which does not convert to FLOAT");
  REQUIRE(can_cast(grad_output.dtype, grad_input.dtype), kParamInvalid, "cast"_rule,
          "gradInput has data type ", grad_input.dtype, ", which gradOutput's ", grad_output.dtype,
          " cannot be cast to");
  for (const auto& [name, tensor] : {std::pair{"selfOrResult", &x}, {"gradInput", &grad_input}})
    REQUIRE(tensor->sizes == grad_output.sizes, kParamInvalid, "shape-differs"_rule, name,
            " has shape ", tensor->sizes, ", but gradOutput has shape ", grad_output.sizes,
            "; they must be equal");
  REQUIRE(grad_output.rank() <= 8, kParamInvalid, "rank"_rule,
          "gradOutput, selfOrResult and gradInput have rank ", grad_output.rank(),
          "; at most 8 is supported");
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

using softnpu::ops::EluBackward;

extern "C" aclnnStatus aclnnEluBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclScalar* alpha, const aclScalar* scale,
    const aclScalar* inputScale, bool isResult, const aclTensor* selfOrResult, aclTensor* gradInput,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return softnpu::phase_one<EluBackward>(
      CALL(gradOutput, alpha, scale, inputScale, isResult, selfOrResult, gradInput, workspaceSize,
           executor),
      workspaceSize, executor, [&](softnpu::Handles& h) -> EluBackward::Args {
        return {.grad_output = h.tensor("gradOutput", gradOutput),
                .alpha = h.scalar("alpha", alpha),
                .scale = h.scalar("scale", scale),
                .input_scale = h.scalar("inputScale", inputScale),
                .is_result = isResult,
                .self_or_result = h.tensor("selfOrResult", selfOrResult),
                .grad_input = h.tensor("gradInput", gradInput)};
      });
}

extern "C" aclnnStatus aclnnEluBackward(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  EluBackward::kTraits, workspace, workspaceSize, executor, stream);
}
