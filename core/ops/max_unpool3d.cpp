// SPDX-License-Identifier: Apache-2.0
// aclnnMaxUnpool3d: outRef is 0, except outRef[n, c, indices[n, c, i]] = self[n, c, i], where D, H,
// W are one axis. stride and padding are only checked.
#include "ops/operators.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "loops/threads.h"
#include "ops/unpool.h"

namespace softnpu::ops {

Status MaxUnpool3d::check_sizes(const Args& a) {
  const Tensor& self = *a.self;
  const auto tensors = operands(a);
  RETURN_IF_FAILED(check_like_self(std::span(tensors).subspan(1, 1), self, "rank-differs"_rule,
                                   "shape-differs"_rule));
  RETURN_IF_FAILED(check_not_empty(self, "self-empty"_rule));
  RETURN_IF_FAILED(check_unpool_sizes({*a.output_size, *a.stride, *a.padding}, self,
                                      "size-length"_rule, "size-positive"_rule,
                                      "output-size-small"_rule));
  return check_unpooled(tensors.back(), self, *a.output_size, "out-spatial"_rule, "out-rank"_rule,
                        "out-batch"_rule);
}

void MaxUnpool3d::describe(const Args& a, Tensor& out) {
  out.sizes = a.self->sizes;
  out.dtype = a.self->dtype;
  const Dims& wanted = *a.output_size;
  if (out.rank() < 4 || wanted.size() != 3) return;  // a check reports this
  std::copy(wanted.begin(), wanted.end(), out.sizes.end() - 3);
}

namespace {

using UnpoolTask = kernels::MaxUnpool3dTask;

// Bytes of a plane of out: smaller planes fit a core's own cache.
constexpr int64_t kPrefetchBytes = int64_t{1} << 20;
// Bytes of a piece for setting out to 0.
constexpr int64_t kZeroed = int64_t{1} << 16;

void describe_inputs(const Tensor& self, const Tensor& indices, UnpoolTask& task) {
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

void describe_output(const Tensor& out, UnpoolTask& task) {
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

// The unit of parts: the elements of self whose pooling windows are in one slab of out.
int64_t slab_of(const Dims& sizes) {
  const size_t rank = sizes.size();
  return sizes[rank - 1] * (sizes[rank - 3] > 1 ? sizes[rank - 2] : 1);
}

// The memory of a dense output.
MaxUnpool3dPlan::Block whole_block(const Tensor& out) {
  Extent extent;
  const int64_t count = out.numel(), item = item_size(out.dtype);
  if (!view_extent(out, extent).ok() || extent.high - extent.low + 1 != count) return {};
  return {(extent.low - out.offset) * item, count * item};
}

}  // namespace

MaxUnpool3d::Plan MaxUnpool3d::plan(const Args& a) {
  const Tensor &self = *a.self, &out = *a.out_ref;
  UnpoolTask task;
  if (self.numel() == 0) {  // other sizes may overflow
    task.batch = 0;
    return Plan(task, {}, {}, self.sizes);
  }
  task.item = item_size(self.dtype);
  task.has_int32 = a.indices->dtype == DType::i32;
  describe_inputs(self, *a.indices, task);
  describe_output(out, task);
  const int64_t planes = task.planes(), threads = loops::usable_threads();
  const bool has_few_planes = planes < threads && out.numel() >= 2 * kGrain;
  // Planes that interleave in memory, such as channels-last ones, are zeroed together.
  const bool has_dense_planes = task.out_w == task.limit && task.out_strides[4] == 1;
  const Plan::Block zeroed = has_few_planes || !has_dense_planes ? whole_block(out) : Plan::Block();
  task.is_zeroed = zeroed.size > 0;
  const int64_t slab = slab_of(self.sizes);
  int64_t parts = 1;
  if (has_few_planes && task.is_zeroed)
    parts = std::min(
        {(threads + planes - 1) / planes, Plan::kMostParts / planes, task.positions() / slab});
  return Plan(task, zeroed, {std::max<int64_t>(parts, 1), slab}, self.sizes);
}

// The range of all indices, and of each part's.
class MaxUnpool3dPlan::Ranges {
 public:
  void set(int64_t part, const kernels::IndexRange& range) { parts_[part] = range; }
  void add(const kernels::IndexRange& range) {
    std::lock_guard lock(mutex_);
    all_.add(range);
  }
  const kernels::IndexRange& all() const { return all_; }
  // Whether each part's indices are above those of the part before it.
  bool are_ordered(int64_t planes, int64_t parts) const {
    for (int64_t i = 0; parts > 1 && i < planes * parts; ++i)
      if (i % parts != 0 && parts_[i].low <= parts_[i - 1].high) return false;
    return true;
  }

 private:
  std::mutex mutex_;
  kernels::IndexRange all_;
  std::array<kernels::IndexRange, kMostParts> parts_;
};

kernels::UnpoolPart MaxUnpool3dPlan::part(int64_t unit, int64_t parts) const {
  const int64_t number = unit % parts, slabs = task_.positions() / cut_.slab;
  return {unit / parts, slabs * number / parts * cut_.slab,
          slabs * (number + 1) / parts * cut_.slab};
}

Status MaxUnpool3dPlan::run(std::byte* const* origins, std::byte* /*workspace*/) const {
  const kernels::KernelTable& table = kernels::active_table();
  const int threads = loops::thread_count();
  const int64_t units = task_.planes() * cut_.parts;
  const auto grain = [&](int64_t elements) { return kGrain * cut_.parts / (elements + 1); };
  // All indices are checked before anything is written.
  Ranges ranges;
  const auto look = [&](int64_t begin, int64_t end, int) {
    kernels::IndexRange all;
    for (int64_t unit = begin; unit < end; ++unit) {
      const auto range = table.unpool_index_range(task_, origins[1], part(unit, cut_.parts));
      if (cut_.parts > 1) ranges.set(unit, range);
      all.add(range);
    }
    ranges.add(all);
  };
  loops::parallel_for(units, grain(task_.positions()), threads, look);
  if (units > 0 && (ranges.all().low < 0 || ranges.all().high >= task_.limit)) {
    FirstBadIndex bad;
    bad.add(table.find_bad_unpool_index(task_, origins[1]));
    RETURN_IF_FAILED(bad.status(shape_, task_.limit));
  }
  const auto zero = [&](int64_t begin, int64_t end, int) {
    std::memset(origins[2] + zeroed_.begin + begin, 0, static_cast<size_t>(end - begin));
  };
  loops::parallel_for(zeroed_.size, kZeroed, threads, zero);
  // Parts with overlapping ranges are processed by one thread, so that the last value wins.
  const int64_t parts = ranges.are_ordered(task_.planes(), cut_.parts) ? cut_.parts : 1;
  const auto scatter = [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit)
      table.max_unpool3d(task_, origins[0], origins[1], origins[2], part(unit, parts));
  };
  loops::parallel_for(task_.planes() * parts, grain(task_.limit), threads, scatter);
  return {};
}

}  // namespace softnpu::ops
