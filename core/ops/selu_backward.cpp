// SPDX-License-Identifier: Apache-2.0
// aclnnSeluBackward: gradInput = gradOutput · selu'(x), from the forward's output.
#include "ops/selu_backward.h"

#include "aclnnop/aclnn_selu_backward.h"
#include "kernels/selu_backward.h"
#include "kernels/table.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits SeluBackward::kTraits = {
    .name = "aclnnSeluBackward",
    .products = {ascend910_93, ascend910b, ascend310p, ascend910},
    .in_place = true,
};

Status SeluBackward::check_pointers(const Args& a) {
  REQUIRE(a.grad_output, kParamNullptr, "grad-output-null"_rule, "gradOutput is null");
  REQUIRE(a.result, kParamNullptr, "result-null"_rule, "result is null");
  REQUIRE(a.grad_input, kParamNullptr, "grad-input-null"_rule, "gradInput is null");
  return {};
}

Status SeluBackward::check(const Args& a) {
  const Tensor& grad_output = *a.grad_output;
  const std::pair<const char*, const Tensor*> others[] = {{"result", a.result.tensor},
                                                          {"gradInput", a.grad_input.tensor}};
  for (const auto& [name, tensor] : others)
    REQUIRE(tensor->dtype == grad_output.dtype, kParamInvalid, "dtype-differs"_rule, name,
            " has data type ", tensor->dtype, ", but gradOutput has ", grad_output.dtype,
            "; they must be equal");
  REQUIRE(is_supported_float(grad_output.dtype) ||
              is_one_of(grad_output.dtype, {DType::i32, DType::i8}),
          kParamInvalid, "dtype-unsupported"_rule,
          "gradOutput, result and gradInput have data type ", grad_output.dtype, supported_floats(),
          ", INT32, INT8");
  for (const Operand& operand : operands(a))
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  for (const auto& [name, tensor] : others)
    REQUIRE(tensor->sizes == grad_output.sizes, kParamInvalid, "shape-differs"_rule, name,
            " has shape ", tensor->sizes, ", but gradOutput has shape ", grad_output.sizes,
            "; they must be equal");
  return {};
}

SeluBackward::Plan SeluBackward::plan(const Args& a) {
  const Tensor* const tensors[] = {a.grad_output.tensor, a.result.tensor, a.grad_input.tensor};
  return Plan(tensors, kernels::active_table().selu_backward, kernels::SeluBackwardNumbers{});
}

}  // namespace softnpu::ops

using softnpu::ops::SeluBackward;

extern "C" aclnnStatus aclnnSeluBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                         const aclTensor* result,
                                                         aclTensor* gradInput,
                                                         uint64_t* workspaceSize,
                                                         aclOpExecutor** executor) {
  return softnpu::phase_one<SeluBackward>(
      CALL(gradOutput, result, gradInput, workspaceSize, executor), workspaceSize, executor,
      [&](softnpu::Handles& h) -> SeluBackward::Args {
        return {.grad_output = h.tensor("gradOutput", gradOutput),
                .result = h.tensor("result", result),
                .grad_input = h.tensor("gradInput", gradInput)};
      });
}

extern "C" aclnnStatus aclnnSeluBackward(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  SeluBackward::kTraits, workspace, workspaceSize, executor,
                                  stream);
}
