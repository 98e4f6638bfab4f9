// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample_prefetching.h"

#include <algorithm>

#include "base/machine.h"
#include "loops/elementwise.h"

namespace softnpu::ops {
namespace {

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

// Whether gradOut's planes lie one behind the other, all of them, with nothing between rows, and
// rows are made whole.
bool has_dense_volumes(const Task& task) {
  const kernels::UpsampleAxis &d = task.d, &h = task.h, &w = task.w;
  return w.out_stride == 1 && h.out_stride == w.out && d.out_stride == h.out * h.out_stride &&
         task.out_channel_stride == d.out * d.out_stride && w.tiles.size() == 2;
}

// Planes of a box that are larger are not prefetched in the order of memory.
constexpr int64_t kLargePlanes = int64_t{128} << 10;

// How many elements ahead gradOut is prefetched in the order of memory where boxes have two planes
// and equal ranges: whole pairs of planes; 0 where it does not pay. What comes line by line out of
// one place is read faster than what comes out of two planes in turn: on a Zen 5 from memory 0.55
// to 1 of the time, FLOAT and 16-bit types in the mean 0.85. Larger planes take 1 to 1.6 times as
// long, DOUBLE 1 to 1.6 times from 8 KB on.
int64_t in_order_ahead(const Task& task) {
  constexpr int64_t kNear = int64_t{16} << 10, kLargeDoubles = 8192;
  const int64_t item = item_size(task.dtype), pair = bytes_of_planes(task);
  if (!has_dense_volumes(task)) return 0;
  if (task.d.factor != 2 || task.h.factor == 0) return 0;
  if (task.w.factor != 1 && task.w.factor != 2) return 0;
  if (pair > (item == 8 ? kLargeDoubles : kLargePlanes)) return 0;
  return (kNear + pair - 1) / pair * pair / item;
}

// The same where ranges differ: the next planes while rows of these are made, 0.6 to 1 of the time,
// in the mean 0.9.
bool prefetches_planes_in_order(const Task& task) {
  return task.d.longest > 1 && has_dense_volumes(task) && bytes_of_planes(task) <= kLargePlanes;
}

// The same with channels inside: the next row's box row by row, 0.45 to 1.03 of the time, in the
// mean 0.8. Boxes of two rows take up to 1.4 times as long where w is as it is or elements have 16
// bits, up to 1.7 times boxes of less than 8 KB, and all where the shared cache holds them in part.
bool prefetches_boxes_in_order(const Task& task, int64_t bytes) {
  constexpr int64_t kLeast = int64_t{8} << 10, kMost = int64_t{256} << 10;
  const kernels::UpsampleAxis &d = task.d, &h = task.h, &w = task.w;
  if (bytes < 2 * loops::kFarBytes) return false;
  if (!task.channels_inner || task.channels > kernels::kUpsampleTile) return false;
  if (d.longest > 2 || h.longest > 2 || w.longest > 2) return false;
  if (task.rows_in_box() <= (w.factor == 1 || item_size(task.dtype) == 2 ? 2 : 1)) return false;
  if (w.out_stride != task.channels || h.out_stride != w.out * w.out_stride) return false;
  const int64_t box = task.rows_in_box() * h.out_stride * item_size(task.dtype);
  return box >= kLeast && box <= kMost;
}

}  // namespace

void plan_prefetching(Task& task, int64_t bytes) {
  task.prefetches = bytes >= least_bytes_to_prefetch(task);
  task.into_second = prefetches_into_second(task, bytes);
  task.one_plane_ahead = one_plane_ahead(task, bytes);
  task.one_plane = task.one_plane_ahead != 0 || prefetches_one_plane(task, bytes);
  task.planes_ahead = prefetches_planes_ahead(task, bytes);
  task.halves_ahead = prefetches_halves(task, bytes);
}

void plan_memory_order(Task& task, int64_t bytes) {
  // Not measured on other machines.
  if (!task.prefetches || !machine().is_zen5) return;
  task.in_order_ahead = in_order_ahead(task);
  task.planes_in_order = task.in_order_ahead == 0 && prefetches_planes_in_order(task);
  task.boxes_in_order = prefetches_boxes_in_order(task, bytes);
}

}  // namespace softnpu::ops
