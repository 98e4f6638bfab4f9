// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample_axes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/table.h"

namespace softnpu::ops {
namespace {

using Tile = kernels::UpsampleAxis::Tile;

// start[i] = ceil(i · scale), `out` at most. Sizes are 2^20 at most, which int32 and float32 hold;
// so compilers make four at a time.
void list_starts(int64_t* start, int32_t count, float scale, int64_t out) {
  const auto end = static_cast<float>(out);
  for (int32_t i = 0; i < count; ++i) {
    const float product = static_cast<float>(i) * scale;
    const float at = product < end ? product : end;
    const auto below = static_cast<int32_t>(at);
    start[i] = below + (static_cast<float>(below) < at);
  }
}

// Whether ranges hold one element and none in turn.
bool is_halved(const std::vector<int64_t>& start) {
  const auto in = static_cast<int64_t>(start.size()) - 1;
  if (in < 2 * start.back()) return false;
  for (int64_t i = 0; i <= in; ++i)
    if (start[static_cast<size_t>(i)] != std::min((i + 1) / 2, start.back())) return false;
  return true;
}

// Pieces of a row as long as a thread's scratch memory allows, `room` elements of either tensor,
// about as long as each other. All but the last have a multiple of sixteen elements if they have
// many: vectors fill them, and of every second one they have as many as of the others.
void cut_into_tiles(kernels::UpsampleAxis& axis, int64_t room) {
  constexpr int64_t kLanes = 16;
  const std::vector<int64_t>& start = axis.start;
  const int64_t longer = std::max(axis.in, start.back());
  if (longer <= room) return axis.tiles.assign({0, axis.in});
  const int64_t count = (longer + room - 1) / room;
  const int64_t even = (axis.in + count - 1) / count;
  const int64_t most = std::min(room, (even + kLanes - 1) / kLanes * kLanes);
  for (int64_t w = 0; w < axis.in;) {
    axis.tiles.push_back(w);
    const int64_t first = w++;
    const auto fits = [&](int64_t next) {
      return next - first <= most &&
             start[static_cast<size_t>(next)] - start[static_cast<size_t>(first)] <= room;
    };
    while (w < axis.in && fits(w + 1)) ++w;
    if (w < axis.in && w - first > kLanes) w -= (w - first) % kLanes;
  }
  axis.tiles.push_back(axis.in);
}

std::span<const int64_t> starts(const kernels::UpsampleAxis& axis, const Tile& tile) {
  return std::span(axis.start)
      .subspan(static_cast<size_t>(tile.w), static_cast<size_t>(tile.n) + 1);
}

// The picks of a tile with these starts: a list for each place in a range. Elements (channels)
// stand side by side at each position, `side` of them.
void list_tile_picks(const Tile& tile, const int64_t* start, int64_t longest, int64_t side,
                     int32_t* picks) {
  const auto nx = static_cast<int32_t>(tile.span * side);
  for (int64_t place = 0; place < longest; ++place)
    for (int64_t w = 0; w < tile.n; ++w) {
      const bool in_range = place < start[w + 1] - start[w];
      const auto first = static_cast<int32_t>((start[w] - start[0] + place) * side);
      const int32_t none = nx + (place == 0 ? 0 : 1);
      for (int32_t v = 0; v < side; ++v) *picks++ = in_range ? first + v : none;
    }
}

// Of ranges of one element or none: where those go that there are.
void list_tile_places(const Tile& tile, const int64_t* start, int64_t side, int32_t* places) {
  for (int64_t w = 0; w < tile.n; ++w)
    for (int64_t v = 0; start[w] < start[w + 1] && v < side; ++v)
      *places++ = static_cast<int32_t>(w * side + v);
}

void list_picks(kernels::UpsampleAxis& axis, int64_t side) {
  const bool places = axis.longest == 1;
  axis.picks.resize(
      static_cast<size_t>((places ? axis.start.back() : axis.longest * axis.in) * side));
  for (size_t i = 0; i + 1 < axis.tiles.size(); ++i) {
    const Tile tile = axis.tile(i);
    const int64_t* const start = starts(axis, tile).data();
    if (places)
      list_tile_places(tile, start, side, axis.picks.data() + tile.x * side);
    else
      list_tile_picks(tile, start, axis.longest, side,
                      axis.picks.data() + axis.longest * tile.w * side);
  }
}

// plan(tile) of each tile, one behind the other. Nothing if it is nothing for one of them.
template <class Plan>
auto plan_tiles(kernels::UpsampleAxis& axis, const Plan& plan) {
  decltype(plan(axis.tile(0))) all;
  axis.grouped.clear();
  for (size_t i = 0; i + 1 < axis.tiles.size(); ++i) {
    const auto groups = plan(axis.tile(i));
    if (groups.empty()) return decltype(all){};
    axis.grouped.push_back(all.size());
    all.insert(all.end(), groups.begin(), groups.end());
  }
  return all;
}

// Whether ranges of DOUBLE are picked four at a time. As many as fit, eight, take 1.75 times as
// long as four: 0.65 to 1 of the time in all where that is less, 1.3 times in rows of ten.
bool suits_fours(const kernels::UpsampleAxis& axis) {
  const auto steps = [&](int64_t together) { return (axis.in + together - 1) / together; };
  return 4 * steps(4) < 7 * steps(8);
}

// Of 16-bit elements as many as fit, sixteen at most.
void plan_sixteens(kernels::UpsampleAxis& axis, int64_t side) {
  axis.sixteens = plan_tiles(axis, [&](const Tile& tile) {
    return loops::plan_some_groups<loops::SixteenGroups>(starts(axis, tile), side, 1);
  });
}

// The same groups of sums as they are picked from registers, of an axis that is not joined yet.
void group_picks(kernels::UpsampleAxis& axis, int64_t side, DType dtype) {
  if (axis.longest == 1) {
    axis.places = plan_tiles(axis, [&](const Tile& tile) {
      return loops::plan_places(
          std::span(axis.picks)
              .subspan(static_cast<size_t>(tile.x * side), static_cast<size_t>(tile.span * side)),
          tile.n * side);
    });
    return;
  }
  if (item_size(dtype) < item_size(DType::f32)) return plan_sixteens(axis, side);
  // Four at a time where that is faster: as many as fit take 1.1 to 1.4 times as long.
  const bool pairs = axis.longest == 2 && side == 1;
  if (pairs && (dtype == DType::f32 || (dtype == DType::f64 && suits_fours(axis))))
    axis.fours = plan_tiles(
        axis, [&](const Tile& tile) { return loops::plan_four_groups(starts(axis, tile)); });
  const bool few = axis.longest <= loops::PickedGroups::kLongest;
  if (few && axis.fours.empty())
    axis.groups = plan_tiles(axis, [&](const Tile& tile) {
      return loops::plan_some_groups<loops::PickedGroups>(starts(axis, tile), side, 4);
    });
}

// Whether ranges of w that are alike are picked, too. Those of two elements have a faster way in
// small boxes; long ones gain nothing where a box is one row.
bool picks_equal_ranges(const kernels::UpsampleNearest3dBackwardTask& task) {
  if (task.w.factor <= 1 || item_size(task.dtype) != 2) return false;
  if (task.w.factor == 2) return task.d.longest > 2 || task.h.longest > 2;
  return task.w.factor <= 4 || task.rows_in_box() > 1;
}

// Makes one row of w and the channels inside it, where loops over the channels alone are too short:
// for a scale of 0.5 and 4 channels this takes two thirds of the time.
void join_channels(kernels::UpsampleNearest3dBackwardTask& task) {
  kernels::UpsampleAxis& w = task.w;
  const int64_t side = task.channels;
  std::vector<int64_t> start(static_cast<size_t>(w.in * side) + 1);
  for (size_t i = 0; i < w.start.size(); ++i)
    start[i * static_cast<size_t>(side)] = w.start[i] * side;
  w.start = std::move(start);
  for (int64_t& tile : w.tiles) tile *= side;
  w.in *= side;
  w.out *= side;
  w.in_stride = w.out_stride = 1;
  w.factor = 0;  // the ranges of w alone were alike, or every second one empty
  w.halved = false;
  w.joined = true;
  task.channels = 1;
  task.channels_inner = false;
}

}  // namespace

kernels::UpsampleAxis make_axis(int64_t in, int64_t out, float scale) {
  kernels::UpsampleAxis axis;
  axis.in = in;
  axis.out = out;
  axis.start.resize(static_cast<size_t>(in) + 1);
  const int64_t* const start = axis.start.data();
  list_starts(axis.start.data(), static_cast<int32_t>(in) + 1, scale, out);
  const int64_t factor = start[1];
  int64_t alike = 0;
  while (alike <= in && start[alike] == alike * factor) ++alike;
  axis.longest = factor;
  if (alike > in)
    axis.factor = factor;
  else
    for (int64_t i = 0; i < in; ++i) axis.longest = std::max(axis.longest, start[i + 1] - start[i]);
  axis.halved = is_halved(axis.start);
  return axis;
}

kernels::UpsampleAxis make_axis(int64_t in, int64_t out) {
  return make_axis(in, out, static_cast<float>(out) / static_cast<float>(in));
}

// Four and five only where their sums are picked from registers: 0.4 to 1 of the time, of DOUBLE
// with a scale of 1.5 up to 1.3 times as long.
int64_t most_joined(const kernels::UpsampleNearest3dBackwardTask& task) {
  const kernels::KernelTable& table = kernels::active_table();
  const kernels::UpsampleAxis& w = task.w;
  if (w.longest == 1) return 8;
  if (task.d.longest > 2 || task.h.longest > 2) return 3;
  // Three in fours, each with the next position's first: 0.45 to 1 of the time, but of BF16 1.1.
  const bool in_fours = table.sums_rows && w.longest == 2 && task.dtype != DType::bf16;
  if (!table.picks_rows) return in_fours ? 2 : 3;
  if (w.longest > loops::PickedGroups::kLongest) return 3;
  if (task.dtype == DType::f64) return w.factor == 2 ? 4 : 3;
  return w.longest == 2 ? 5 : 4;
}

void group_channels(kernels::UpsampleNearest3dBackwardTask& task, int threads) {
  constexpr int64_t kFewest = 128;  // of a group
  // Sums of a few elements take as long with gaps between positions as two threads gain.
  const int64_t terms = task.d.longest * task.h.longest * task.w.longest;
  const int64_t few = item_size(task.dtype) == 2 ? 8 : 2;
  if (!task.channels_inner || terms <= few) return;
  while (task.rows() < 2 * threads && task.rows() % threads != 0 && task.channels % 2 == 0 &&
         task.channels >= 2 * kFewest) {
    task.channels /= 2;
    task.channel_groups *= 2;
  }
}

// Lists of so many elements take a megabyte at most. To make them takes 2 to 5 ns an element, to
// use them 0.2 to 0.5.
bool is_worth_keeping(const kernels::UpsampleNearest3dBackwardTask& task) {
  return task.d.in + task.h.in + task.w.in <= 24 * kernels::kUpsampleTile;
}

void plan_row_steps(kernels::UpsampleNearest3dBackwardTask& task) {
  kernels::UpsampleAxis& w = task.w;
  const int64_t side = task.channels_inner ? std::min(task.channels, kernels::kUpsampleTile) : 1;
  cut_into_tiles(w, kernels::kUpsampleTile / side);
  if (w.longest == 0 || w.longest > kernels::kLongestGroup) return;
  const bool dense = task.in_channel_stride == 1 && w.in_stride == side && w.out_stride == side;
  const bool joins = task.channels_inner && dense && side <= most_joined(task);
  if (!joins && task.channels_inner) return;
  const bool picks = kernels::active_table().picks_rows;
  if (!joins && w.factor != 0) {
    if (picks && picks_equal_ranges(task)) plan_sixteens(w, side);
    return;
  }
  // Lists take as long to make as so many rows gain by them.
  constexpr int64_t kFewRows = 8;
  if (!is_worth_keeping(task) && task.rows() < kFewRows) return;
  list_picks(w, side);
  if (picks) group_picks(w, side, task.dtype);
  if (joins) join_channels(task);
}

}  // namespace softnpu::ops
