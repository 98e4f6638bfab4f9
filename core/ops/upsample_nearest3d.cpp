// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3d: each element of out is a copy of the element of self in whose range it
// lies.
#include "ops/operators.h"

#include <algorithm>

#include "loops/threads.h"

namespace softnpu::ops {

Status UpsampleNearest3d::check_formats_agree(const Args& a) {
  const auto tensors = operands(a);
  return check_types_and_formats(tensors[1], tensors[0], "dtype-or-format-differs"_rule);
}

Status UpsampleNearest3d::check_sizes(const Args& a) {
  const Tensor &self = *a.self, &out = *a.out;
  RETURN_IF_FAILED(check_upsample_sizes("outputSize", *a.output_size, 3, "output-size"_rule));
  REQUIRE(self.numel() > 0, kParamInvalid, "self-empty"_rule, "self has shape ", self.sizes,
          "; every dimension must be above 0");
  const Dims in = sizes_in_order(self);
  const Dims& wanted = *a.output_size;
  const Dims expected = {in[0], in[1], wanted[0], wanted[1], wanted[2]};
  REQUIRE(out.rank() == 5 && sizes_in_order(out) == expected, kParamInvalid, "out-shape"_rule,
          "out has shape ", out.sizes, "; expected N, C, D, H, W ", expected,
          " from self, which has shape ", self.sizes, ", and outputSize");
  RETURN_IF_FAILED(check_upsample_limits("out", expected, "self", in, "size-limit"_rule));
  return check_scales(scales_of(a), in, wanted, "scales"_rule);
}

void UpsampleNearest3d::describe(const Args& a, Tensor& out) {
  out.sizes = a.self->sizes;
  out.dtype = a.self->dtype;
  const Dims& wanted = *a.output_size;
  if (out.rank() != 5 || wanted.size() != 3) return;  // a check reports this
  const AxisOrder at = axis_order(*a.self);
  out.sizes[at.d] = wanted[0];
  out.sizes[at.h] = wanted[1];
  out.sizes[at.w] = wanted[2];
}

UpsampleNearest3d::Plan UpsampleNearest3d::plan(const Args& a) {
  return Plan(upsample_axes(*a.out, *a.self, scales_of(a)), item_size(a.self->dtype));
}

namespace {

void list_sources(const kernels::UpsampleAxis& axis, int32_t* sources) {
  for (int64_t z = 0; z < axis.out; ++z) sources[z] = static_cast<int32_t>(axis.source(z));
}

// Groups adjacent planes with the same source. Returns the number of groups.
int64_t group_planes(const kernels::UpsampleAxis& d, kernels::UpsamplePlanes* groups) {
  int64_t count = 0;
  for (int32_t z = 0; z < d.out; ++z) {
    const auto source = static_cast<int32_t>(d.source(z));
    if (count > 0 && groups[count - 1].source == source && groups[count - 1].count < kMostStreams)
      ++groups[count - 1].count;
    else
      groups[count++] = {z, 1, source};
  }
  return count;
}

}  // namespace

UpsampleNearest3dPlan::UpsampleNearest3dPlan(const kernels::UpsampleAxes& axes, int64_t item)
    : task_{axes},
      sources_(std::make_unique_for_overwrite<int32_t[]>(axes.w.out + axes.h.out)),
      planes_(std::make_unique_for_overwrite<kernels::UpsamplePlanes[]>(axes.d.out)) {
  list_sources(axes.w, sources_.get());
  list_sources(axes.h, sources_.get() + axes.w.out);
  task_.item = item;
  task_.columns = sources_.get();
  task_.rows = sources_.get() + axes.w.out;
  task_.planes = planes_.get();
  task_.plane_groups = group_planes(axes.d, planes_.get());
  const int64_t row = task_.row_size();
  task_.tiles = (row + kernels::kUpsampleCopied - 1) / kernels::kUpsampleCopied;
  task_.tile = (row + task_.tiles - 1) / task_.tiles;
  const int64_t planes = axes.batch.size * axes.channels.size * axes.d.out;
  task_.stream = planes * axes.h.out * row * item >= kFarBytes;
}

Status UpsampleNearest3dPlan::run(std::byte* const* origins, std::byte* /*workspace*/) const {
  const auto kernel = kernels::active_table().upsample_nearest3d;
  const auto body = [&](int64_t begin, int64_t end, int) {
    kernel(task_, origins[0], origins[1], begin, end);
  };
  const int64_t unit = std::max<int64_t>(task_.tile * task_.d.out / task_.plane_groups, 1);
  loops::parallel_for(task_.units(), std::max<int64_t>(kGrain / unit, 1), loops::thread_count(),
                      body);
  return {};
}

}  // namespace softnpu::ops
