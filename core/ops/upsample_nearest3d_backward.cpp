// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3dBackward: each element of gradInput is the sum of the elements of gradOut
// that the forward copied it to.
#include "ops/upsample_nearest3d_backward.h"

#include <algorithm>
#include <cmath>

#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "ops/upsample_task.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits UpsampleNearest3dBackward::kTraits = {
    .name = "aclnnUpsampleNearest3dBackward",
    .products = {ascend910_93, ascend910b, ascend910},
    .in_place = false,
};

namespace {

using Args = UpsampleNearest3dBackward::Args;
__extension__ using Wide = __int128;  // products of five sizes of up to 2^20

Dims in_order(const Dims& sizes, const Axes& at) {  // as N, C, D, H, W
  return {sizes[at.n], sizes[at.c], sizes[at.d], sizes[at.h], sizes[at.w]};
}

// inputSize names gradInput's shape, in gradInput's own order of axes or as (N, C, D, H, W).
bool names_shape(const Dims& input_size, const Tensor& grad_input) {
  if (grad_input.rank() != 5) return false;
  return input_size == grad_input.sizes ||
         input_size == in_order(grad_input.sizes, axes_of(grad_input));
}

// The rule is named where this is called, so that the list of checks shows it.
Status check_sizes(const char* name, const IntArray& sizes, size_t length, RuleId /*rule*/) {
  if (sizes.size() != length)
    return fail(kParamInvalid, name, " has ", sizes.size(), " elements; expected ", length);
  for (int64_t size : sizes)
    if (size <= 0)
      return fail(kParamInvalid, name, " is ", Dims(sizes), "; every element must be above 0");
  return {};
}

// What the device has room and index width for. Both shapes are in the order N, C, D, H, W.
Status check_limits(const Dims& out, const Dims& in, RuleId /*rule*/) {
  for (const auto& [name, sizes] : {std::pair{"gradOut", &out}, {"gradInput", &in}})
    for (int64_t size : *sizes)
      if (!(size <= int64_t{1} << 20))
        return fail(kParamInvalid, name, " has a dimension of ", size,
                    "; at most 1048576 (2^20) is supported");
  const Wide batch = Wide(out[0]) * out[1];
  if (!(batch * out[2] * out[3] < Wide(1) << 31))
    return fail(kParamInvalid, "gradOut has N, C, D, H ", Dims{out[0], out[1], out[2], out[3]},
                "; their product must be below 2^31");
  if (!(Wide(in[3]) * in[4] < Wide(1) << 31))
    return fail(kParamInvalid, "gradInput has H, W ", Dims{in[3], in[4]},
                "; their product must be below 2^31");
  const Wide elements = Wide(out[2]) * out[3] * out[4] + Wide(in[2]) * in[3] * in[4] +
                        Wide(out[2]) * out[3] * in[4] + Wide(out[2]) * in[3] * in[4];
  if (!(batch * elements * 4 < Wide(60) << 30))
    return fail(kParamInvalid, "gradOut of N, C, D, H, W ", out, " and gradInput of ", in,
                " need 60 GiB or more of device memory");
  return {};
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
  RETURN_IF_FAILED(check_sizes("outputSize", *a.output_size, 3, "output-size"_rule));
  RETURN_IF_FAILED(check_sizes("inputSize", *a.input_size, 5, "input-size"_rule));
  const Dims out = in_order(grad_out.sizes, axes_of(grad_out));
  const Dims &wanted = *a.output_size, &input_size = *a.input_size;
  REQUIRE((Dims{out[2], out[3], out[4]} == wanted), kParamInvalid, "grad-out-shape"_rule,
          "gradOut has shape ", grad_out.sizes, ", whose D, H, W differ from outputSize ", wanted);
  REQUIRE(names_shape(input_size, grad_input), kParamInvalid, "grad-input-shape"_rule,
          "gradInput has shape ", grad_input.sizes, ", which differs from inputSize ", input_size);
  const Dims in = in_order(grad_input.sizes, axes_of(grad_input));
  REQUIRE(out[0] == in[0] && out[1] == in[1], kParamInvalid, "batch-or-channels-differ"_rule,
          "gradInput has N, C ", Dims{in[0], in[1]}, ", but gradOut has ", Dims{out[0], out[1]});
  RETURN_IF_FAILED(check_limits(out, in, "size-limit"_rule));
  const std::pair<const char*, double> scales[] = {
      {"scalesD", a.scales_d}, {"scalesH", a.scales_h}, {"scalesW", a.scales_w}};
  for (size_t i = 0; i < 3; ++i)
    REQUIRE(!scales_given(a) ||
                std::floor(static_cast<double>(in[2 + i]) * scales[i].second) == wanted[i],
            kParamInvalid, "scales"_rule, scales[i].first, " is ", scales[i].second,
            ", which takes a size of ", in[2 + i], " to ",
            std::floor(static_cast<double>(in[2 + i]) * scales[i].second), ", but outputSize says ",
            wanted[i]);
  return {};
}

UpsampleNearest3dBackward::Plan UpsampleNearest3dBackward::plan(const Args& a) {
  return Plan(upsample_task(a));
}

Status UpsampleNearest3dBackwardPlan::run(std::byte* const* origins, std::byte* workspace) const {
  const Task& task = task_;
  const auto kernel = kernels::active_table().upsample_nearest3d_backward;
  const auto size = [](const kernels::UpsampleAxis& axis) { return std::max(axis.in, axis.out); };
  const int64_t elements = task.batch.size * task.channels.size * task.side.size * size(task.d) *
                           size(task.h) * size(task.w);
  const int64_t grain = loops::kGrain * task.units() / elements;
  const auto body = [&](int64_t begin, int64_t end, int worker) {
    std::byte* const scratch =
        workspace + static_cast<uint64_t>(worker) * kernels::kUpsampleScratchBytes;
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
      __func__, workspaceSize, executor,
      [&](softnpu::Handles& h) -> UpsampleNearest3dBackward::Args {
        return {.grad_out = h.tensor("gradOut", gradOut),
                .output_size = h.int_array("outputSize", outputSize),
                .input_size = h.int_array("inputSize", inputSize),
                .scales_d = scalesD,
                .scales_h = scalesH,
                .scales_w = scalesW,
                .grad_input = h.tensor("gradInput", gradInput)};
      });
}

extern "C" aclnnStatus aclnnUpsampleNearest3dBackward(void* workspace, uint64_t workspaceSize,
                                                      aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(__func__, UpsampleNearest3dBackward::kTraits, workspace,
                                  workspaceSize, executor, stream);
}
