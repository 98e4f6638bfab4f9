// SPDX-License-Identifier: Apache-2.0
// aclnnMaxUnpool3d: outRef is 0, but outRef[n, c, indices[n, c, i]] = self[n, c, i] with D, H, W
// seen as one axis. stride and padding take part in the checks only.
#include "ops/max_unpool3d.h"

#include <algorithm>
#include <cstring>

#include "aclnnop/aclnn_max_unpool3d.h"
#include "loops/threads.h"
#include "ops/unpool.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits MaxUnpool3d::kTraits = {
    .name = "aclnnMaxUnpool3d",
    .products = {ascend950, ascend910_93, ascend910b},
    .in_place = false,
};

Status MaxUnpool3d::check_pointers(const Args& a) {
  REQUIRE(a.self, kParamNullptr, "self-null"_rule, "self is null");
  REQUIRE(a.indices, kParamNullptr, "indices-null"_rule, "indices is null");
  REQUIRE(a.output_size, kParamNullptr, "output-size-null"_rule, "outputSize is null");
  REQUIRE(a.stride, kParamNullptr, "stride-null"_rule, "stride is null");
  REQUIRE(a.padding, kParamNullptr, "padding-null"_rule, "padding is null");
  REQUIRE(a.out_ref, kParamNullptr, "out-null"_rule, "outRef is null");
  return {};
}

Status MaxUnpool3d::check(const Args& a) {
  const Tensor& self = *a.self;
  const auto tensors = operands(a);

  RETURN_IF_FAILED(check_unpool_types(tensors, {DType::i64, DType::i32}, "dtype-unsupported"_rule));
  REQUIRE(a.out_ref->dtype == self.dtype, kParamInvalid, "dtype-differs"_rule,
          "outRef has data type ", a.out_ref->dtype, ", but self has ", self.dtype,
          "; they must be equal");
  RETURN_IF_FAILED(check_unpool_rank(self, "self-rank"_rule));
  RETURN_IF_FAILED(check_like_self(std::span(tensors).subspan(1, 1), self, "rank-differs"_rule,
                                   "shape-differs"_rule));
  RETURN_IF_FAILED(check_not_empty(self, "self-empty"_rule));
  RETURN_IF_FAILED(check_unpool_sizes({*a.output_size, *a.stride, *a.padding}, self,
                                      "size-length"_rule, "size-positive"_rule,
                                      "output-size-small"_rule));
  return check_unpooled(tensors.back(), self, *a.output_size, "out-spatial"_rule, "out-rank"_rule,
                        "out-batch"_rule);
}

namespace {

using Task = kernels::MaxUnpool3dTask;

// Bytes of a plane of out: smaller planes stay in a core's own cache.
constexpr int64_t kPrefetchBytes = int64_t{1} << 20;
// Bytes that a thread sets to 0 at once.
constexpr int64_t kZeroed = int64_t{1} << 16;

void describe_inputs(const Tensor& self, const Tensor& indices, Task& task) {
  const size_t rank = self.rank();
  task.batch = self.sizes[0];
  task.channels = rank == 5 ? self.sizes[1] : 1;
  task.d = self.sizes[rank - 3];
  task.h = self.sizes[rank - 2];
  task.w = self.sizes[rank - 1];
  read_strides(self, task.self_strides);
  read_strides(indices, task.index_strides);
  int64_t self_step = 1, index_step = 1;
  if (!is_flat(self, self_step) || !is_flat(indices, index_step)) return;
  task.w *= task.d * task.h;
  task.d = task.h = 1;
  task.self_strides[4] = self_step;
  task.index_strides[4] = index_step;
}

void describe_output(const Tensor& out, Task& task) {
  const size_t rank = out.rank();
  task.limit = *checked_numel(spatial(out.sizes));
  read_strides(out, task.out_strides);
  task.out_h = out.sizes[rank - 2];
  task.out_w = out.sizes[rank - 1];
  int64_t step = 1;
  if (!is_flat(out, step)) return;
  task.out_h = 1;
  task.out_w = task.limit;
  task.out_strides[4] = step;
  task.prefetches = step == 1 && task.limit * task.item >= kPrefetchBytes;
}

// Planes that are spread over all of a dense output, as channels-last ones are, are set to 0
// together.
MaxUnpool3dPlan::Block spread_planes(const Tensor& out, const Task& task) {
  Extent extent;
  const bool is_dense =
      view_extent(out, extent).ok() && extent.high - extent.low + 1 == out.numel();
  if (!is_dense || (task.out_w == task.limit && task.out_strides[4] == 1)) return {};
  return {(extent.low - out.offset) * task.item, out.numel() * task.item};
}

}  // namespace

MaxUnpool3d::Plan MaxUnpool3d::plan(const Args& a) {
  const Tensor &self = *a.self, &out = *a.out_ref;
  Task task;
  if (self.numel() == 0) {  // its other sizes may be beyond all numbers
    task.batch = 0;
    return Plan(task, {}, self.sizes);
  }
  task.item = item_size(self.dtype);
  task.has_int32 = a.indices->dtype == DType::i32;
  describe_inputs(self, *a.indices, task);
  describe_output(out, task);
  const Plan::Block zeroed = spread_planes(out, task);
  task.is_zeroed = zeroed.size > 0;
  // Each part's thread reads all indices of the plane.
  const int64_t planes = task.batch * task.channels, threads = loops::usable_threads();
  if (planes < threads && out.numel() >= 2 * loops::kGrain)
    task.parts = std::min((threads + planes - 1) / planes, task.limit);
  return Plan(task, zeroed, self.sizes);
}

Status MaxUnpool3dPlan::run(std::byte* const* origins, std::byte* /*workspace*/) const {
  const kernels::KernelTable& table = kernels::active_table();
  const int threads = loops::thread_count();
  // All of them, before anything is written.
  FirstBadIndex bad;
  const auto check = [&](int64_t begin, int64_t end, int) {
    bad.add(table.find_bad_index(task_, origins[1], begin, end));
  };
  loops::parallel_for(task_.positions(), loops::kGrain, threads, check);
  RETURN_IF_FAILED(bad.status(shape_, task_.limit));
  const auto zero = [&](int64_t begin, int64_t end, int) {
    std::memset(origins[2] + zeroed_.begin + begin, 0, static_cast<size_t>(end - begin));
  };
  loops::parallel_for(zeroed_.size, kZeroed, threads, zero);
  const auto scatter = [&](int64_t begin, int64_t end, int) {
    table.max_unpool3d(task_, origins[0], origins[1], origins[2], begin, end);
  };
  const int64_t unit = task_.limit / task_.parts + 1;
  loops::parallel_for(task_.units(), loops::kGrain / unit, threads, scatter);
  return {};
}

}  // namespace softnpu::ops

using softnpu::ops::MaxUnpool3d;

extern "C" aclnnStatus aclnnMaxUnpool3dGetWorkspaceSize(
    const aclTensor* self, const aclTensor* indices, const aclIntArray* outputSize,
    const aclIntArray* stride, const aclIntArray* padding, aclTensor* outRef,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return softnpu::phase_one<MaxUnpool3d>(
      __func__, workspaceSize, executor, [&](softnpu::Handles& h) -> MaxUnpool3d::Args {
        return {.self = h.tensor("self", self),
                .indices = h.tensor("indices", indices),
                .output_size = h.int_array("outputSize", outputSize),
                .stride = h.int_array("stride", stride),
                .padding = h.int_array("padding", padding),
                .out_ref = h.tensor("outRef", outRef)};
      });
}

extern "C" aclnnStatus aclnnMaxUnpool3d(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(__func__, MaxUnpool3d::kTraits, workspace, workspaceSize,
                                  executor, stream);
}
