// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample_task.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/machine.h"
#include "executor/recent_plans.h"
#include "kernels/table.h"
#include "ops/upsample_axes.h"

namespace softnpu::ops {
namespace {

using Args = UpsampleNearest3dBackward::Args;
using Task = kernels::UpsampleNearest3dBackwardTask;

// From how many bytes of operands on it pays to prefetch elements: before memory has to be read,
// because a cache that is shared with others has less room than its size says.
int64_t least_bytes_to_prefetch(const Task& task) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  // A Zen 5's shared cache is so near that 4 to 14 MB take 0.65 to 1 of the time without, from 18
  // on up to twice the time.
  if (machine().is_zen5) return 16 * kMiB;
  if (task.channels_inner) {
    // Boxes of many rows are scattered too much for a Xeon to foresee: x8, 64 channels, 8 MB 0.75
    // of the time.
    const bool scattered = machine().is_intel && task.d.longest * task.h.longest > 16;
    return (task.dtype == DType::f64 ? 6 : scattered ? 4 : 12) * kMiB;
  }
  if (task.w.halved) return (item_size(task.dtype) == 2 ? 16 : 8) * kMiB;
  return (task.w.factor == 2 ? 4 : 6) * kMiB;
}

// Whether what is prefetched goes into the second cache: the first takes so few lines at a time
// that memory would be idle. On a Zen 4 from memory: x2 NCDHW FLOAT 64M 10.4 -> 7.6 ms, x1,2,2
// NDHWC 16M 3.3 -> 2.4 ms, DOUBLE, one thread, 10.9 -> 6.9 ms, two or three channels inside, which
// become rows, 0.7 of the time, x3.3 NCDHW FLOAT 0.7. With channels outside and up to 32 MB, or
// with 16-bit types and ranges that differ, up to 1.3 times slower. On a Xeon it makes no
// difference, on a Zen 5 it takes 1 to 1.45 times as long.
bool prefetches_into_second(const Task& task, int64_t bytes) {
  const bool equal = task.w.factor > 0;
  if (machine().is_intel || machine().is_zen5) return false;
  if (task.channels_inner) return equal || task.w.longest > 1;
  return bytes >= 2 * loops::kFarBytes && (equal || item_size(task.dtype) > 2);
}

// Whether boxes of one plane, which is read from end to end, are prefetched. A Zen 4 foresees them,
// 1.1 to 1.3 times as fast, unless there are others between them: from memory it takes 0.8 to 0.9
// of the time then. Nor does it foresee boxes of long rows: see one_plane_ahead(). On a Xeon it
// pays, up to 1.7 times from memory, unless sums take longer than reading.
bool prefetches_one_plane(const Task& task, int64_t bytes) {
  if (machine().is_intel) return task.h.longest <= 2;
  return task.d.longest > 1 && bytes >= 2 * loops::kFarBytes;
}

// Whether a Zen 5 does not foresee boxes of one plane although their rows are short. Where it is
// told, from memory and with channels outside, DOUBLE has 0.3 to 1 of the time (larger results 1.1
// times), others with equal ranges of h and of w 0.65 to 1; with other ranges up to 1.4 times. So
// have shorter rows than these, and 16-bit types with w as it is: 1.1 to 1.2 times.
bool has_short_rows_unforeseen(const Task& task) {
  if (!machine().is_zen5 || task.channels_inner) return false;
  const int64_t item = item_size(task.dtype), row = task.h.out_stride * item;
  if (item == 8) return task.w.longest > 1 || task.w.factor == 1;
  if (task.h.factor == 0 || task.w.factor == 0) return false;
  return task.w.factor > 1 ? row >= 64 : item > 2 && row >= 192;
}

// How many elements ahead boxes of several long rows, or of rows that a Zen 5 does not foresee, are
// prefetched where no box has two planes; 0 where it does not pay. On a Zen 4 from memory 0.4 to
// 0.6 of the time (x1,2,2 NCDHW FLOAT 16M in rows of 200, one thread, 6.9 -> 3.5 ms), from 12 MB in
// the shared cache 0.75 to 1, of 8 MB 1 to 1.1; rows of less than half a KB 1 to 1.2. With channels
// inside 0.6 to 1.
int64_t one_plane_ahead(const Task& task, int64_t bytes) {
  constexpr int64_t kLongRow = 512, kLeast = int64_t{12} << 20;
  const int64_t item = item_size(task.dtype);
  if (machine().is_intel || bytes < kLeast || task.d.longest != 1) return 0;
  const bool several_long = task.h.longest > 1 && task.h.out_stride * item >= kLongRow;
  if (!several_long && !has_short_rows_unforeseen(task)) return 0;
  return std::max((task.into_second ? 16384 : 8192) / item, task.h.longest * task.h.out_stride);
}

// What the planes of a box take, all of their rows.
int64_t bytes_of_planes(const Task& task) {
  return task.d.longest * task.d.out_stride * item_size(task.dtype);
}

// Whether planes of gradOut are so small that the next ones are needed before a Xeon has read them:
// from memory 0.53 to 1 of the time, of 2 KB and more, and in the shared cache, 0.9 to 1.1. On a
// Zen 4 up to 1.4 times, see RowMaker.
bool prefetches_planes_ahead(const Task& task, int64_t bytes) {
  constexpr int64_t kSmall = 2048;
  return machine().is_intel && bytes >= 2 * loops::kFarBytes && bytes_of_planes(task) < kSmall;
}

// Whether both halves of the next planes are prefetched at a time where w is doubled. On a Xeon
// from memory 0.85 to 1 of the time in planes of this size, up to 1.9 times in others, and 1.05 in
// the shared cache. Not measured elsewhere.
bool prefetches_halves(const Task& task, int64_t bytes) {
  constexpr int64_t kLeast = int64_t{20} << 10, kMost = int64_t{80} << 10;
  const int64_t planes = bytes_of_planes(task);
  const bool alike = task.d.factor > 0 && task.h.factor > 0 && task.w.factor == 2;
  return machine().is_intel && bytes >= 8 * loops::kFarBytes && alike &&
         item_size(task.dtype) < 8 && !task.channels_inner && planes >= kLeast && planes <= kMost;
}

// Whether gradOut's planes lie one behind the other, all of them, with nothing between rows.
bool has_dense_volumes(const Task& task) {
  const kernels::UpsampleAxis &d = task.d, &h = task.h, &w = task.w;
  return w.out_stride == 1 && h.out_stride == w.out && d.out_stride == h.out * h.out_stride &&
         task.out_channel_stride == d.out * d.out_stride;
}

// Whether boxes of planes whose ranges differ are prefetched in the order of memory, plane by
// plane.
bool prefetches_planes_in_order(const Task& task) {
  constexpr int64_t kMost = int64_t{128} << 10;
  if (!machine().is_zen5 || task.channels_inner || task.w.tiles.size() != 2) return false;
  return task.d.longest > 1 && has_dense_volumes(task) && bytes_of_planes(task) <= kMost;
}

// How many elements ahead gradOut is prefetched in the order of memory where boxes have two planes,
// which lie one behind the other, all of them: whole pairs of planes. 0 where it does not pay.
int64_t in_order_ahead(const Task& task) {
  constexpr int64_t kNear = int64_t{16} << 10, kMost = int64_t{128} << 10, kMostDoubles = 8192;
  const kernels::UpsampleAxis &d = task.d, &h = task.h, &w = task.w;
  const int64_t item = item_size(task.dtype), pair = bytes_of_planes(task);
  if (!machine().is_zen5 || task.channels_inner || w.tiles.size() != 2) return 0;
  if (d.factor != 2 || h.factor == 0 || (w.factor != 1 && w.factor != 2)) return 0;
  if (!has_dense_volumes(task) || pair > (item == 8 ? kMostDoubles : kMost)) return 0;
  return (kNear + pair - 1) / pair * pair / item;
}

// Whether with channels inside each box is prefetched in the order of memory, row by row.
bool prefetches_boxes_in_order(const Task& task) {
  constexpr int64_t kMost = int64_t{256} << 10;
  const kernels::UpsampleAxis &d = task.d, &h = task.h, &w = task.w;
  if (!machine().is_zen5 || !task.channels_inner || task.channels > kernels::kUpsampleTile)
    return false;
  if (d.longest > 2 || h.longest > 2 || w.longest > 2 || task.rows_in_box() == 1) return false;
  if (w.factor == 1 && task.rows_in_box() == 2) return false;
  if (w.out_stride != task.channels || h.out_stride != w.out * w.out_stride) return false;
  return task.rows_in_box() * h.out_stride * item_size(task.dtype) <= kMost;
}

// The same for writing past the caches. A result that is smaller than gradOut gains later, and with
// channels outside only where w is halved: on a Zen 4 FLOAT 0.6 to 0.8 of the time from 24 MB on,
// 16-bit types 0.8 to 1 (two threads, 20 MB: 1.1 to 1.2), on a Xeon 0.7 from 128 MB on, up to 1.15
// times before. There, a result that is larger takes 0.75 to 0.9 of the time with plain stores up
// to 64 MB, and twice the time from 80; on a Zen 4 0.55 to 1 up to 24 MB, up to 1.5 times behind.
// Boxes of several planes, with channels outside, on a Xeon: 0.66 to 0.91 of the time from 64 MB on
// where w is as it is, 0.93 to 1 from 128 MB on where it is doubled, but for DOUBLE (1.02). Those
// of one plane take up to 1.26 times as long. On a Zen 5 FLOAT 0.75 to 1.05 from 64 MB on, 16-bit
// types 0.93 to 1 where w is doubled.
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

bool is_one(const kernels::UpsampleAxis& axis) { return axis.in == 1 && axis.out == 1; }

// Boxes have one plane or one row: axes may change places, and sums keep their order.
bool has_flat_boxes(const Task& task) { return task.d.longest <= 1 || task.h.longest <= 1; }

// Where both tensors have one element along an axis, the axis outside it takes its place, and rows
// get longer: 0.1 to 1 of the time. Sums keep their order: along w a box's are added up last, but
// there is one of them, or one in each box. Few long ranges take up to 2.8 times as long in a row,
// few that differ and are not picked from registers 1.5 times.
void fill_axes_of_one(Task& task) {
  const auto take_place = [](kernels::UpsampleAxis& outer, kernels::UpsampleAxis& inner) {
    std::swap(outer, inner);
    outer.in_stride = inner.in * inner.in_stride;
    outer.out_stride = inner.out * inner.out_stride;
  };
  if (is_one(task.h)) take_place(task.d, task.h);
  const bool few_long = task.h.longest > 2 && task.h.in < 8;
  const bool few_unlike =
      task.h.factor == 0 && task.h.in < 32 && !kernels::active_table().picks_rows;
  if (!is_one(task.w) || few_long || few_unlike || !has_flat_boxes(task)) return;
  take_place(task.h, task.w);
  take_place(task.d, task.h);
}

// Where gradInput's planes are rows of more than one element, channels outside, rows take the place
// of planes, so that those of several planes are made together: 0.4 to 1 of the time.
void join_planes_of_one_row(Task& task) {
  const bool one_row = task.h.in == 1 && task.h.out > 1 && task.d.in > 1;
  if (one_row && !is_one(task.w) && !has_channels_inside(task) && has_flat_boxes(task))
    std::swap(task.d, task.h);
}

// Where rows would be made in four volumes side by side, but there are not as many, and all ranges
// of d are alike, or of h: makes a volume of each plane. 0.15 to 1.1 of the time, in the mean 0.7;
// rows of two totals of four 16-bit elements each up to 1.4 times.
void split_volumes(Task& task) {
  const int64_t volumes = task.batch * task.channels;
  const auto suits = [&](const kernels::UpsampleAxis& axis) {
    return axis.factor > 0 && volumes * axis.in >= kernels::kVolumesTogether;
  };
  if (volumes >= kernels::kVolumesTogether || !task.has_narrow_rows()) return;
  if (task.channels > 1 && task.batch > 1) return;
  // Not of rows that registers may suit better after all: rows of h are apart then.
  const bool shortest = task.w.in == 1 || task.w.start.back() < (task.w.longest > 1 ? 4 : 3);
  if (!suits(task.d) && suits(task.h) && shortest && has_flat_boxes(task))
    std::swap(task.d, task.h);
  kernels::UpsampleAxis& d = task.d;
  if (!suits(d)) return;
  if (task.batch == 1) {
    task.batch = std::exchange(task.channels, 1);
    task.in_batch_stride = task.in_channel_stride;
    task.out_batch_stride = task.out_channel_stride;
  }
  task.channels = std::exchange(d.in, 1);
  task.in_channel_stride = d.in_stride;
  task.out_channel_stride = d.factor * d.out_stride;
  d.out = d.factor;
  d.start = {0, d.factor};
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
  join_planes_of_one_row(task);
  fill_axes_of_one(task);
  task.channels_inner = has_channels_inside(task);
  const int64_t bytes = (out.numel() + in.numel()) * item_size(out.dtype);
  task.far = bytes >= loops::kFarBytes;
  if (bytes >= loops::kNearBytes && !task.far) task.order = loops::Order::turning;
  task.prefetches = bytes >= least_bytes_to_prefetch(task);
  task.into_second = prefetches_into_second(task, bytes);
  task.one_plane_ahead = one_plane_ahead(task, bytes);
  task.one_plane = task.one_plane_ahead != 0 || prefetches_one_plane(task, bytes);
  task.planes_ahead = prefetches_planes_ahead(task, bytes);
  task.halves_ahead = prefetches_halves(task, bytes);
  const bool larger = in.numel() > out.numel();
  const bool streams = bytes >= least_bytes_to_stream(task, larger);
  group_channels(task, threads);
  plan_row_steps(task);
  if (task.prefetches) {
    task.in_order_ahead = in_order_ahead(task);
    task.planes_in_order = task.in_order_ahead == 0 && prefetches_planes_in_order(task);
    task.boxes_in_order = prefetches_boxes_in_order(task);
  }
  // Rows that are made side by side are not streamed, which takes 2 to 4.5 times as long for one to
  // three totals; but where the result is the larger part it has 0.6 to 0.9 of the time.
  task.stream = streams && (larger || !task.is_narrow());
  split_volumes(task);
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

// Those with few rows and columns, whose lists are short.
bool is_worth_keeping(const Task& task) { return task.d.in + task.h.in + task.w.in <= 4096; }

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
