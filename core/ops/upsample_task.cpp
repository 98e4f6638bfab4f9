// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample_task.h"

#include <limits>
#include <utility>

#include "base/machine.h"
#include "executor/recent_plans.h"
#include "ops/upsample_axes.h"
#include "ops/upsample_joining.h"
#include "ops/upsample_prefetching.h"

namespace softnpu::ops {
namespace {

using Args = UpsampleNearest3dBackward::Args;
using Task = kernels::UpsampleNearest3dBackwardTask;

// From how many bytes of operands on it pays to write past the caches. A result that is smaller
// than gradOut gains later, and with channels outside only where w is halved: on a Zen 4 FLOAT 0.6
// to 0.8 of the time from 24 MB on, 16-bit types 0.8 to 1 (two threads, 20 MB: 1.1 to 1.2), on a
// Xeon 0.7 from 128 MB on, up to 1.15 times before. There, a result that is larger takes 0.75 to
// 0.9 of the time with plain stores up to 64 MB, and twice the time from 80; on a Zen 4 0.55 to 1
// up to 24 MB, up to 1.5 times behind. Boxes of several planes, with channels outside, on a Xeon:
// 0.66 to 0.91 of the time from 64 MB on where w is as it is, 0.93 to 1 from 128 MB on where it is
// doubled, but for DOUBLE (1.02). Those of one plane take up to 1.26 times as long. On a Zen 5
// FLOAT 0.75 to 1.05 from 64 MB on, 16-bit types 0.93 to 1 where w is doubled.
int64_t least_bytes_to_stream(const Task& task, bool larger) {
  const bool intel = machine().is_intel, zen5 = machine().is_zen5;
  if (larger) return (intel ? 8 : 3) * loops::kFarBytes / 2;
  if (task.channels_inner) return 2 * loops::kFarBytes;
  if (task.w.halved) return (intel ? 16 : 3) * loops::kFarBytes / 2;
  const int64_t item = item_size(task.dtype);
  if (task.d.longest > 1) {
    if (intel && task.w.factor == 1) return 4 * loops::kFarBytes;
    if (zen5 && item == 4) return 4 * loops::kFarBytes;
    if ((intel || zen5) && task.w.factor == 2 && item < 8) return 8 * loops::kFarBytes;
  }
  return std::numeric_limits<int64_t>::max();
}

// Channels are dense in gradOut, and w is not.
bool has_channels_inside(const Task& task) {
  return task.channels > 1 && task.out_channel_stride == 1 && task.w.out_stride != 1;
}

// How many threads a task is shared by. Of a small one, to ask takes longer than it would gain.
int threads_of(const Tensor& out) {
  return out.numel() >= 2 * loops::kGrain ? loops::usable_threads() : 1;
}

std::shared_ptr<const Task> make_task(const Args& a, int threads) {
  const Tensor& out = *a.grad_out;
  const Tensor& in = *a.grad_input;
  const Axes at = axes_of(out);
  const auto axis = [&, given = scales_given(a)](size_t i, double scale) {
    kernels::UpsampleAxis made =
        given ? make_axis(in.sizes[i], out.sizes[i], static_cast<float>(scale))
              : make_axis(in.sizes[i], out.sizes[i]);
    made.in_stride = in.strides[i];
    made.out_stride = out.strides[i];
    return made;
  };
  Task task{
      .dtype = out.dtype,
      .batch = out.sizes[at.n],
      .channels = out.sizes[at.c],
      .in_batch_stride = in.strides[at.n],
      .out_batch_stride = out.strides[at.n],
      .in_channel_stride = in.strides[at.c],
      .out_channel_stride = out.strides[at.c],
      .d = axis(at.d, a.scales_d),
      .h = axis(at.h, a.scales_h),
      .w = axis(at.w, a.scales_w),
  };
  task.channels_inner = has_channels_inside(task);
  join_axes(task);
  const int64_t bytes = (out.numel() + in.numel()) * item_size(out.dtype);
  task.far = bytes >= loops::kFarBytes;
  if (bytes >= loops::kNearBytes && !task.far) task.order = loops::Order::turning;
  plan_prefetching(task, bytes);
  const bool larger = in.numel() > out.numel();
  const bool streams = bytes >= least_bytes_to_stream(task, larger);
  group_channels(task, threads);
  plan_row_steps(task);
  plan_memory_order(task, bytes);
  // Rows that are made side by side are not streamed, which takes 2 to 4.5 times as long for one to
  // three totals; but where the result is the larger part it has 0.6 to 0.9 of the time.
  task.stream = streams && (larger || !task.is_narrow());
  arrange_volumes(task);
  return std::make_shared<const Task>(std::move(task));
}

// All that a task depends on.
PlanKey task_key(const Args& a, int threads) {
  PlanKey key(UpsampleNearest3dBackward::kTraits.name);
  for (const Tensor* tensor : {&*a.grad_out, &*a.grad_input}) {
    key.add(tensor->sizes);
    key.add(tensor->strides);
  }
  key.add(static_cast<int64_t>(a.grad_out->dtype));
  key.add(static_cast<int64_t>(a.grad_out->format));
  key.add(int64_t{threads});
  for (double scale : {a.scales_d, a.scales_h, a.scales_w}) key.add(scale);
  return key;
}

}  // namespace

// Tasks are kept: to make one takes 0.15 to 0.25 us, and every core has one that it knows in its
// cache. 64K elements take 0.9 of the time.
std::shared_ptr<const Task> upsample_task(const Args& a) {
  const int threads = threads_of(*a.grad_out);
  const PlanKey key = task_key(a, threads);
  auto task = std::static_pointer_cast<const Task>(find_recent(key));
  if (!task) {
    task = make_task(a, threads);
    if (is_worth_keeping(*task)) keep_recent(key, task);
  }
  return task;
}

}  // namespace softnpu::ops
