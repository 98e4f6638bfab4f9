// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3dBackward: each element of gradInput is the sum of the elements of gradOut
// that the forward copied it to.
#include "ops/upsample_nearest3d_backward.h"

#include <algorithm>

#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "ops/upsample.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits UpsampleNearest3dBackward::kTraits = {
    .name = "aclnnUpsampleNearest3dBackward",
    .products = {ascend910_93, ascend910b, ascend910},
    .in_place = false,
};

namespace {

using Args = UpsampleNearest3dBackward::Args;
// inputSize names gradInput's shape, in gradInput's own order of axes or as (N, C, D, H, W).
bool names_shape(const Dims& input_size, const Tensor& grad_input) {
  if (grad_input.rank() != 5) return false;
  return input_size == grad_input.sizes || input_size == sizes_in_order(grad_input);
}

}  // namespace

Status UpsampleNearest3dBackward::check_pointers(const Args& a) {
  REQUIRE(a.grad_out, kParamNullptr, "grad-out-null"_rule, "gradOut is null");
  REQUIRE(a.output_size, kParamNullptr, "output-size-null"_rule, "outputSize is null");
  REQUIRE(a.input_size, kParamNullptr, "input-size-null"_rule, "inputSize is null");
  REQUIRE(a.grad_input, kParamNullptr, "grad-input-null"_rule, "gradInput is null");
  return {};
}

Status UpsampleNearest3dBackward::check(const Args& a) {
  const Tensor& grad_out = *a.grad_out;
  const Tensor& grad_input = *a.grad_input;

  REQUIRE(is_supported_float(grad_out.dtype) || grad_out.dtype == DType::f64, kParamInvalid,
          "dtype-unsupported"_rule, "gradOut has data type ", grad_out.dtype, supported_floats(),
          ", DOUBLE");
  for (const Operand& operand : operands(a))
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  const bool channels_last = grad_out.format == Format::ndhwc;
  REQUIRE(
      grad_input.dtype == grad_out.dtype && (grad_input.format == Format::ndhwc) == channels_last,
      kParamInvalid, "dtype-or-format-differs"_rule, "gradInput has data type ", grad_input.dtype,
      " and format ", grad_input.format, ", but gradOut has ", grad_out.dtype, " and ",
      grad_out.format, "; they must agree");
  REQUIRE(grad_out.rank() == 5, kParamInvalid, "rank"_rule, "gradOut has rank ", grad_out.rank(),
          " (shape ", grad_out.sizes, "); expected 5");
  RETURN_IF_FAILED(check_upsample_sizes("outputSize", *a.output_size, 3, "output-size"_rule));
  RETURN_IF_FAILED(check_upsample_sizes("inputSize", *a.input_size, 5, "input-size"_rule));
  const Dims out = sizes_in_order(grad_out);
  const Dims &wanted = *a.output_size, &input_size = *a.input_size;
  REQUIRE((Dims{out[2], out[3], out[4]} == wanted), kParamInvalid, "grad-out-shape"_rule,
          "gradOut has shape ", grad_out.sizes, ", whose D, H, W differ from outputSize ", wanted);
  REQUIRE(names_shape(input_size, grad_input), kParamInvalid, "grad-input-shape"_rule,
          "gradInput has shape ", grad_input.sizes, ", which differs from inputSize ", input_size);
  const Dims in = sizes_in_order(grad_input);
  REQUIRE(out[0] == in[0] && out[1] == in[1], kParamInvalid, "batch-or-channels-differ"_rule,
          "gradInput has N, C ", Dims{in[0], in[1]}, ", but gradOut has ", Dims{out[0], out[1]});
  RETURN_IF_FAILED(check_upsample_limits("gradOut", out, "gradInput", in, "size-limit"_rule));
  return check_scales(a.scales, in, wanted, "scales"_rule);
}

Status UpsampleNearest3dBackwardPlan::run(std::byte* const* origins, std::byte* workspace) const {
  const Task& task = task_;
  const auto kernel = kernels::active_table().upsample_nearest3d_backward;
  const auto size = [](const kernels::UpsampleAxis& axis) { return std::max(axis.in, axis.out); };
  const int64_t elements = task.batch.size * task.channels.size * task.side.size * size(task.d) *
                           size(task.h) * size(task.w);
  const int64_t grain = kGrain * task.units() / elements;
  const auto body = [&](int64_t begin, int64_t end, int worker) {
    std::byte* const scratch =
        workspace + static_cast<uint64_t>(worker) * sizeof(kernels::UpsampleScratch);
    kernel(task, origins[0], origins[1], scratch, begin, end);
  };
  loops::parallel_for(task.units(), grain, workers_, body);
  return {};
}

}  // namespace softnpu::ops

using softnpu::ops::UpsampleNearest3dBackward;

extern "C" aclnnStatus aclnnUpsampleNearest3dBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclIntArray* outputSize, const aclIntArray* inputSize,
    double scalesD, double scalesH, double scalesW, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return softnpu::phase_one<UpsampleNearest3dBackward>(
      CALL(gradOut, outputSize, inputSize, scalesD, scalesH, scalesW, gradInput, workspaceSize,
           executor),
      workspaceSize, executor, [&](softnpu::Handles& h) -> UpsampleNearest3dBackward::Args {
        return {.grad_out = h.tensor("gradOut", gradOut),
                .output_size = h.int_array("outputSize", outputSize),
                .input_size = h.int_array("inputSize", inputSize),
                .scales = {scalesD, scalesH, scalesW},
                .grad_input = h.tensor("gradInput", gradInput)};
      });
}

extern "C" aclnnStatus aclnnUpsampleNearest3dBackward(void* workspace, uint64_t workspaceSize,
                                                      aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  UpsampleNearest3dBackward::kTraits, workspace, workspaceSize,
                                  executor, stream);
}
