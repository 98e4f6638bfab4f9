// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3d: each element of out is a copy of the element of self in whose range it
// is.
#include "ops/upsample_nearest3d.h"

#include <algorithm>

#include "aclnnop/aclnn_upsample_nearest_3d.h"
#include "loops/threads.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits UpsampleNearest3d::kTraits = {
    .name = "aclnnUpsampleNearest3d",
    .products = {ascend950, ascend910_93, ascend910b, ascend310p, ascend910},
    .in_place = false,
};

Status UpsampleNearest3d::check_pointers(const Args& a) {
  REQUIRE(a.self, kParamNullptr, "self-null"_rule, "self is null");
  REQUIRE(a.output_size, kParamNullptr, "output-size-null"_rule, "outputSize is null");
  REQUIRE(a.out, kParamNullptr, "out-null"_rule, "out is null");
  return {};
}

Status UpsampleNearest3d::check(const Args& a) {
  const Tensor& self = *a.self;
  const Tensor& out = *a.out;

  REQUIRE(is_supported_float(self.dtype) || is_one_of(self.dtype, {DType::f64, DType::u8}),
          kParamInvalid, "dtype-unsupported"_rule, "self has data type ", self.dtype,
          supported_floats(), ", DOUBLE, UINT8");
  for (const Operand& operand : operands(a))
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  const bool channels_last = self.format == Format::ndhwc;
  REQUIRE(out.dtype == self.dtype && (out.format == Format::ndhwc) == channels_last, kParamInvalid,
          "dtype-or-format-differs"_rule, "out has data type ", out.dtype, " and format ",
          out.format, ", but self has ", self.dtype, " and ", self.format, "; they must agree");
  REQUIRE(self.rank() == 5, kParamInvalid, "rank"_rule, "self has rank ", self.rank(), " (shape ",
          self.sizes, "); expected 5");
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
  return check_scales(a.scales, in, wanted, "scales"_rule);
}

UpsampleNearest3d::Plan UpsampleNearest3d::plan(const Args& a) {
  return Plan(upsample_axes(*a.out, *a.self, a.scales), item_size(a.self->dtype));
}

namespace {

void list_sources(const kernels::UpsampleAxis& axis, int32_t* sources) {
  for (int64_t z = 0; z < axis.out; ++z) sources[z] = static_cast<int32_t>(axis.source(z));
}

// Returns how many groups there are.
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

using softnpu::ops::UpsampleNearest3d;

extern "C" aclnnStatus aclnnUpsampleNearest3dGetWorkspaceSize(
    const aclTensor* self, const aclIntArray* outputSize, double scalesD, double scalesH,
    double scalesW, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return softnpu::phase_one<UpsampleNearest3d>(
      CALL(self, outputSize, scalesD, scalesH, scalesW, out, workspaceSize, executor),
      workspaceSize, executor, [&](softnpu::Handles& h) -> UpsampleNearest3d::Args {
        return {.self = h.tensor("self", self),
                .output_size = h.int_array("outputSize", outputSize),
                .scales = {scalesD, scalesH, scalesW},
                .out = h.tensor("out", out)};
      });
}

extern "C" aclnnStatus aclnnUpsampleNearest3d(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  UpsampleNearest3d::kTraits, workspace, workspaceSize, executor,
                                  stream);
}
