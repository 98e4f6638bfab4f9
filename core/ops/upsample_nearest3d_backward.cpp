// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3dBackward: each element of gradInput is the sum of the elements of gradOut
// to which the forward copied it.
#include "ops/operators.h"

#include <algorithm>

#include "ops/upsample.h"

namespace softnpu::ops {

namespace {

// Whether inputSize is gradInput's shape, in its own order of axes or as N, C, D, H, W.
bool names_shape(const Dims& input_size, const Tensor& grad_input) {
  if (grad_input.rank() != 5) return false;
  return input_size == grad_input.sizes || input_size == sizes_in_order(grad_input);
}

}  // namespace

Status UpsampleNearest3dBackward::check_formats_agree(const Args& a) {
  const auto tensors = operands(a);
  return check_types_and_formats(tensors[1], tensors[0], "dtype-or-format-differs"_rule);
}

Status UpsampleNearest3dBackward::check_sizes(const Args& a) {
  const Tensor &grad_out = *a.grad_out, &grad_input = *a.grad_input;
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
  return check_scales(scales_of(a), in, wanted, "scales"_rule);
}

// For NDHWC, inputSize is taken as N, C, D, H, W if only that order fits gradOut's channels;
// otherwise as the tensor's own order of axes.
void UpsampleNearest3dBackward::describe(const Args& a, Tensor& out) {
  const Tensor& grad_out = *a.grad_out;
  const IntArray& s = *a.input_size;
  out.dtype = grad_out.dtype;
  out.sizes = Dims(s);
  if (grad_out.format != Format::ndhwc || s.size() != 5 || grad_out.rank() != 5) return;
  const int64_t channels = grad_out.sizes[4];
  if (s[4] != channels && s[1] == channels) out.sizes = {s[0], s[2], s[3], s[4], s[1]};
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
