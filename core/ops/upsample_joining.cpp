// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample_joining.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/table.h"
#include "loops/short_groups.h"

namespace softnpu::ops {
namespace {

using Axis = kernels::UpsampleAxis;
using Task = kernels::UpsampleNearest3dBackwardTask;

bool is_one(const Axis& axis) { return axis.in == 1 && axis.out == 1; }

// Boxes have one plane or one row: axes may change places, and sums keep their order.
bool has_flat_boxes(const Task& task) { return task.d.longest <= 1 || task.h.longest <= 1; }

// `outer` takes the place of `inner`, which has one element.
void take_place(Axis& outer, Axis& inner) {
  std::swap(outer, inner);
  outer.in_stride = inner.in * inner.in_stride;
  outer.out_stride = inner.out * inner.out_stride;
}

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

// Whether ranges of both axes as one hold one element and none in turn, as those of `inner` do.
bool stays_halved(const Axis& outer, const Axis& inner) {
  return inner.halved && outer.factor == 1 && inner.in == 2 * inner.out;
}

// Makes one axis of two, whose elements are those of `inner` in each of `outer`, which is left with
// one.
void join(Axis& outer, Axis& inner) {
  std::vector<int64_t> start;
  start.reserve(static_cast<size_t>(outer.in * inner.in) + 1);
  for (size_t i = 0; i + 1 < outer.start.size(); ++i) {
    const bool empty = outer.start[i] == outer.start[i + 1];
    for (size_t k = 0; k + 1 < inner.start.size(); ++k)
      start.push_back(outer.start[i] * inner.out + (empty ? 0 : inner.start[k]));
  }
  start.push_back(outer.start.back() * inner.out);
  inner.halved = stays_halved(outer, inner);
  inner.start = std::move(start);
  inner.in *= outer.in;
  inner.out *= outer.out;
  if (outer.factor != 1) inner.factor = 0;
  outer.in_stride *= outer.in;
  outer.out_stride *= outer.out;
  outer.start = {0, 1};
  outer.in = outer.out = outer.factor = outer.longest = 1;
}

// Whether none of `outer` is added to another, and elements of `inner` follow each other in both
// tensors from one of `outer` to the next.
bool can_join(const Axis& outer, const Axis& inner) {
  return outer.longest == 1 && inner.start.back() == inner.out &&
         outer.in_stride == inner.in * inner.in_stride &&
         outer.out_stride == inner.out * inner.out_stride;
}

int64_t longer_side(const Axis& axis) { return std::max(axis.in, axis.out); }

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

// An axis along which everything is as it is.
struct Steps {
  int64_t count, in_stride, out_stride;

  explicit Steps(const Axis& axis) : Steps(axis.in, axis.in_stride, axis.out_stride) {}
  Steps(int64_t n, int64_t in, int64_t out) : count(n), in_stride(in), out_stride(out) {}

  bool follow(const Steps& inner) const {
    return in_stride == inner.count * inner.in_stride &&
           out_stride == inner.count * inner.out_stride;
  }
  // The most elements that divide all of them, `most` at most.
  int64_t largest_part(int64_t most) const {
    int64_t part = std::clamp<int64_t>(most, 1, count);
    while (count % part != 0) --part;
    return part;
  }
  void divide(int64_t part) {
    count /= part;
    in_stride *= part;
    out_stride *= part;
  }
  // The first n elements.
  Axis axis(int64_t n) const {
    Axis made;
    made.in = made.out = n;
    made.in_stride = in_stride;
    made.out_stride = out_stride;
    made.start.resize(static_cast<size_t>(n) + 1);
    std::iota(made.start.begin(), made.start.end(), 0);
    made.factor = made.longest = 1;
    return made;
  }
};

// Makes one row of those along `outer`, or of part of them, where that is faster and they fit a
// tile.
void join_rows(Task& task, Axis& outer) {
  if (is_one(outer) || !gets_faster_rows(task, outer)) return;
  const int64_t most = rows_in_tile(task);
  if (longer_side(outer) <= most) return join(outer, task.w);
  if (outer.factor != 1 || outer.in != outer.out) return;
  Steps rows(outer);
  const int64_t part = rows.largest_part(most);
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

// Makes channels of planes that are as they are, and of the volumes of a batch, where they follow
// each other.
void make_channels(Task& task) {
  const Steps planes(task.d), batch(task.batch, task.in_batch_stride, task.out_batch_stride);
  Steps channels = channels_of(task);
  if (planes.count > 1 && task.d.factor == 1 && (channels.count == 1 || channels.follow(planes))) {
    channels = {channels.count * planes.count, planes.in_stride, planes.out_stride};
    task.d.start = {0, 1};
    task.d.in = task.d.out = 1;
  }
  if (channels.count == 1) {
    channels = batch;
    task.batch = 1;
  } else if (batch.follow(channels)) {
    channels.count *= std::exchange(task.batch, 1);
  }
  set_channels(task, channels);
}

// Makes one row of short ones that are all there is of a channel, of as many channels as fit.
void join_channels_of_one_row(Task& task) {
  if (!is_one(task.d) || !is_one(task.h)) return;
  make_channels(task);
  Steps channels = channels_of(task);
  const int64_t part = channels.largest_part(rows_in_tile(task));
  if (part == 1) return;
  Axis joined = channels.axis(part);
  if (!gets_faster_rows(task, joined)) return;
  join(joined, task.w);
  channels.divide(part);
  set_channels(task, channels);
}

// The same for planes of several rows, which then are made together.
void join_channels_of_one_plane(Task& task) {
  constexpr int64_t kSmallPlane = 1024, kMostRows = 1024;
  if (longer_side(task.h) * longer_side(task.w) >= kSmallPlane) return;
  if (task.d.factor != 1) return;
  make_channels(task);
  Steps channels = channels_of(task);
  const int64_t part = channels.largest_part(kMostRows / longer_side(task.h));
  if (part == 1 || !is_one(task.d)) return;
  Axis joined = channels.axis(part);
  if (is_one(task.h))
    task.h = std::move(joined);
  else if (can_join(joined, task.h))
    join(joined, task.h);
  else
    return;
  channels.divide(part);
  set_channels(task, channels);
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

}  // namespace

void join_axes(Task& task) {
  join_planes_of_one_row(task);
  fill_axes_of_one(task);
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
