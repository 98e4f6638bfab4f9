// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample_joining.h"

#include <algorithm>
#include <utility>

#include "kernels/table.h"
#include "loops/short_groups.h"
#include "ops/upsample_axes.h"
#include "ops/upsample_axis_joins.h"

namespace softnpu::ops {
namespace {

using Task = kernels::UpsampleNearest3dBackwardTask;

// Boxes have one plane or one row: axes may change places, and sums keep their order.
bool has_flat_boxes(const Task& task) { return task.d.longest <= 1 || task.h.longest <= 1; }

// Where both tensors have one element along an axis, the axis outside it takes its place, and rows
// get longer: 0.1 to 1 of the time. Sums keep their order: along w a box's are added up last, but
// there is one of them, or one in each box. Few long ranges take up to 2.8 times as long in a row,
// few that differ and are not picked from registers 1.5 times.
void fill_axes_of_one(Task& task) {
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
  if (one_row && !is_one(task.w) && !task.channels_inner && has_flat_boxes(task))
    std::swap(task.d, task.h);
}

// Elements of each position that are beside each other.
int64_t side_of(const Task& task) { return task.channels_inner ? task.channels : 1; }

// How many rows fit a tile.
int64_t rows_in_tile(const Task& task) {
  return kernels::kUpsampleTile / (longer_side(task.w) * side_of(task));
}

// Whether rows are best made one along `outer`. An operation on a row of six costs as much as one
// of sixteen: 0.1 to 0.9 of the time. But ranges that are alike differ then if some of `outer` are
// empty: longer rows take up to 1.8 times as long, and short ones, too, where they are summed in
// registers, and those that differ are not.
bool gets_faster_rows(const Task& task, const Axis& outer) {
  constexpr int64_t kShort = 64, kShortAlike = 12, kShortUnlike = 20, kInRegisters = 4;
  const Axis& w = task.w;
  const kernels::KernelTable& table = kernels::active_table();
  const int64_t side = side_of(task), row = longer_side(w) * side;
  if (w.in_stride != side || w.out_stride != side || !can_join(outer, w)) return false;
  const bool alike = w.factor == 1 || w.factor == 2 || w.halved;
  const bool stay_alike = outer.factor == 1 && (!w.halved || stays_halved(outer, w));
  const bool in_registers = alike && w.in >= kInRegisters && table.sums_rows;
  if (in_registers && !stay_alike && !table.picks_rows) return false;
  if (outer.factor == 1 || task.channels_inner) return row < kShort;
  if (w.longest > loops::PickedGroups::kLongest) return false;
  return row < (w.factor == 0 ? kShortUnlike : kShortAlike);
}

// Makes one row of those along `outer` where that is faster: of part of them, if they are as they
// are and some fit a tile, or of all, which takes tiles enough for each thread to have rows.
void join_rows(Task& task, Axis& outer) {
  constexpr int64_t kMostTiles = 16;
  if (is_one(outer) || !gets_faster_rows(task, outer)) return;
  const int64_t most = rows_in_tile(task);
  Steps rows(outer);
  const int64_t part = outer.factor == 1 && outer.in == outer.out ? rows.largest_part(most) : 1;
  const bool fits = longer_side(outer) <= most;
  if (fits || (4 * part < most && longer_side(outer) <= kMostTiles * most))
    return join(outer, task.w);
  if (part == 1) return;
  Axis joined = rows.axis(part);
  join(joined, task.w);
  rows.divide(part);
  outer = rows.axis(rows.count);
}

Steps channels_of(const Task& task) {
  return {task.channels, task.in_channel_stride, task.out_channel_stride};
}
void set_channels(Task& task, const Steps& channels) {
  task.channels = channels.count;
  task.in_channel_stride = channels.in_stride;
  task.out_channel_stride = channels.out_stride;
}

void divide_channels(Task& task, int64_t part) {
  Steps channels = channels_of(task);
  channels.divide(part);
  set_channels(task, channels);
}

// Makes channels of the volumes of a batch where they follow each other, or there are no others.
void make_channels_of_batch(Task& task) {
  const Steps batch(task.batch, task.in_batch_stride, task.out_batch_stride);
  Steps channels = channels_of(task);
  if (channels.count == 1)
    channels = batch;
  else if (batch.follow(channels))
    channels.count *= batch.count;
  else
    return;
  task.batch = 1;
  set_channels(task, channels);
}

// The same of planes that are as they are, too.
void make_channels(Task& task) {
  const Steps planes(task.d), channels = channels_of(task);
  if (planes.count > 1 && task.d.factor == 1 && (channels.count == 1 || channels.follow(planes))) {
    set_channels(task, {channels.count * planes.count, planes.in_stride, planes.out_stride});
    task.d.start = {0, 1};
    task.d.in = task.d.out = 1;
  }
  make_channels_of_batch(task);
}

// Makes one row of short ones that are all there is of a channel, of as many channels as fit.
void join_channels_of_one_row(Task& task) {
  if (!is_one(task.d) || !is_one(task.h)) return;
  make_channels(task);
  const Steps channels = channels_of(task);
  const int64_t part = channels.largest_part(rows_in_tile(task));
  if (part == 1) return;
  Axis joined = channels.axis(part);
  if (!gets_faster_rows(task, joined)) return;
  join(joined, task.w);
  divide_channels(task, part);
}

// The same for planes of several rows, which then are made together: planes of up to 16 × 16 take
// 0.2 to 0.9 of the time, larger ones up to 1.04.
void join_channels_of_one_plane(Task& task) {
  constexpr int64_t kSmallPlane = 1024, kMostRows = 1024;
  if (longer_side(task.h) * longer_side(task.w) >= kSmallPlane) return;
  if (task.d.factor != 1) return;
  make_channels(task);
  const Steps channels = channels_of(task);
  const int64_t part = channels.largest_part(kMostRows / longer_side(task.h));
  if (part == 1 || !is_one(task.d)) return;
  Axis joined = channels.axis(part);
  if (is_one(task.h))
    task.h = std::move(joined);
  else if (can_join(joined, task.h))
    join(joined, task.h);
  else
    return;
  divide_channels(task, part);
}

// Where rows would be made in four volumes side by side, but there are not as many, and all ranges
// of d are alike, or of h: makes a volume of each plane. 0.15 to 1.1 of the time, in the mean 0.7;
// rows of two totals of four 16-bit elements each up to 1.4 times.
void split_volumes(Task& task) {
  const int64_t volumes = task.batch * task.channels;
  const auto suits = [&](const Axis& axis) {
    return axis.factor > 0 && volumes * axis.in >= kernels::kVolumesTogether;
  };
  if (volumes >= kernels::kVolumesTogether) return;
  if (task.channels > 1 && task.batch > 1) return;
  // Not of rows that registers may suit better after all: rows of h are apart then.
  const bool shortest = task.w.in == 1 || task.w.start.back() < (task.w.longest > 1 ? 4 : 3);
  if (!suits(task.d) && suits(task.h) && shortest && has_flat_boxes(task))
    std::swap(task.d, task.h);
  Axis& d = task.d;
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

// Makes channels of a short w that is as it is, and w of h, whose rows are longer: 0.07 to 1.1 of
// the time, in the mean 0.4 (with AVX2 0.9). With more columns up to 2.8 times, with four of
// DOUBLE 1.9.
void make_channels_of_columns(Task& task) {
  const Axis &h = task.h, &w = task.w;
  if (task.channels_inner || is_one(w) || w.factor != 1 || w.in != w.out) return;
  if (w.in_stride != 1 || w.out_stride != 1) return;
  if (h.longest < 2 || task.d.longest > 1 || h.in_stride != w.in || h.out_stride != w.out) return;
  Task made = task;
  make_channels_of_batch(made);
  if (made.batch > 1) return;
  made.batch = made.channels;
  made.in_batch_stride = made.in_channel_stride;
  made.out_batch_stride = made.out_channel_stride;
  set_channels(made, Steps(w));
  made.channels_inner = true;
  made.w = task.h;
  made.h = task.d;
  made.d = Steps(task.d).axis(1);
  int64_t most = most_joined(made);
  if (made.dtype == DType::f32 && kernels::active_table().picks_rows) most = 5;
  if (made.dtype == DType::f64) most = std::min<int64_t>(most, 3);
  if (made.channels <= most) task = std::move(made);
}

}  // namespace

void join_axes(Task& task) {
  join_planes_of_one_row(task);
  fill_axes_of_one(task);
  make_channels_of_columns(task);
  join_rows(task, task.h);
  if (is_one(task.h)) {
    join_rows(task, task.d);
    take_place(task.d, task.h);
  }
  if (!task.channels_inner) join_channels_of_one_row(task);
}

void arrange_volumes(Task& task) {
  if (task.has_narrow_rows())
    split_volumes(task);
  else if (!task.channels_inner)
    join_channels_of_one_plane(task);
}

}  // namespace softnpu::ops
