// SPDX-License-Identifier: Apache-2.0
// What phase one hands to the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "loops/short_groups.h"
#include "loops/threads.h"

namespace softnpu::kernels {

// The nearest-upsample gradient along one axis: gradInput's element i is the sum over gradOut's
// elements [start[i], start[i + 1]).
struct UpsampleAxis {
  int64_t in = 1, out = 1;
  int64_t in_stride = 0, out_stride = 0;  // of gradInput and of gradOut, in elements
  std::vector<int64_t> start;
  int64_t factor = 0;   // the length of every range, where they all have the same
  int64_t longest = 0;  // of all ranges
  bool halved = false;  // ranges hold one element and none in turn; the last ones may hold none

  // The rest is of w only. Where it is one row with the channels inside it, `start` says where
  // tiles begin, and nothing of the elements between.
  bool joined = false;
  // Tiles are pieces of a row, element tiles[i] to tiles[i + 1] of gradInput. Where ranges differ
  // but are short, picks[longest · tiles[i] …] lists for each place in a range, and for each
  // element of tile i, which of the tile's sums to take: nx for a sum of 0, nx + 1 for one of -0.
  std::vector<int64_t> tiles;
  std::vector<int32_t> picks;
  // The same for picking in registers; tile i begins at number grouped[i] of one of these. Where no
  // range is longer than 2, and tiles are long enough.
  std::vector<size_t> grouped;
  std::vector<loops::FourGroups> fours;
  // Where none is longer than 4, and there are none of the former: ranges that differ, or channels
  // that are joined.
  std::vector<loops::PickedGroups> groups;
  // Of 16-bit elements instead of these, some that are alike, too.
  std::vector<loops::SixteenGroups> sixteens;
  // Where none is longer than 1.
  std::vector<loops::SixteenPlaces> places;

  // Where a tile begins in a row of gradInput and of gradOut, and how many elements it has there.
  struct Tile {
    int64_t w, x, n, span;
  };
  Tile tile(size_t i) const {
    const int64_t w = tiles[i], end = tiles[i + 1];
    const int64_t x = start[static_cast<size_t>(w)];
    return {w, x, end - w, start[static_cast<size_t>(end)] - x};
  }
};

constexpr int64_t kVolumesTogether = 4;

// Ranges of w up to these lengths are added up side by side where there are no channels: those that
// differ, and those that are alike. These take 0.35 to 0.9 of the time from 17 elements on.
constexpr int64_t kLongestGroup = 16, kLongestEqualGroup = 256;

// In lines of memory of its own: what is written beside it has to be fetched by every thread again.
struct alignas(64) UpsampleNearest3dBackwardTask {
  DType dtype = DType::undefined;
  int64_t batch = 1, channels = 1;
  int64_t in_batch_stride = 0, out_batch_stride = 0;
  int64_t in_channel_stride = 0, out_channel_stride = 0;
  UpsampleAxis d, h, w;
  // Channels are dense in gradOut: they are summed side by side, else one after the other.
  bool channels_inner = false;
  // Such channels may be dealt to threads in groups: so many, of `channels` each.
  int64_t channel_groups = 1;
  bool far = false;  // the operands are in memory, not in a cache
  loops::Order order = loops::Order::forward;
  bool prefetches = false;   // elements of gradOut
  bool into_second = false;  // what is prefetched goes to the second cache, not the first
  bool one_plane = false;    // boxes of one plane are prefetched, too
  // How many elements ahead, where all are of one plane; 0 for what the next rows need.
  int64_t one_plane_ahead = 0;
  // Small boxes of all of a plane are prefetched some planes ahead, as large ones are.
  bool planes_ahead = false;
  // Both halves of the next planes are prefetched at a time, where all ranges are alike.
  bool halves_ahead = false;
  // How many elements ahead gradOut is prefetched in the order of memory, not in that of boxes; 0
  // where it is not.
  int64_t in_order_ahead = 0;
  // The same where ranges differ: the next planes while rows of these are made.
  bool planes_in_order = false;
  bool boxes_in_order = false;  // the same within each box, channels inside
  bool stream = false;          // write past the caches

  // Volumes of an n: one for each channel, or for each group of channels that are side by side.
  int64_t slices() const { return channels_inner ? channel_groups : channels; }
  int64_t slice_stride_out() const { return out_channel_stride * (channels_inner ? channels : 1); }
  int64_t slice_stride_in() const { return in_channel_stride * (channels_inner ? channels : 1); }
  // Rows are the unit of work: one (n, slice, d, h) of gradInput.
  int64_t rows() const { return batch * slices() * d.in * h.in; }
  // Ranges of w that are long, in boxes of few rows: adding them up side by side takes as many
  // loads as elements, and a pass for the sums. Fewer elements are long where ranges differ; of
  // 16-bit ones only those are that are too many to be picked.
  bool has_long_ranges() const {
    const bool alike = w.factor != 0;
    if (rows_in_box() > (dtype == DType::f64 && !alike ? 4 : 1)) return false;
    if (item_size(dtype) == 2) return !alike && w.longest > kLongestGroup;
    return w.longest >= (alike && dtype == DType::f32 ? 8 : 5);
  }
  // Four volumes are made side by side, where there are instructions for it: a row of gradOut
  // hardly fills a register, or one of gradInput does not, and has ranges that differ or few
  // elements of short ones, or it has_long_ranges(). Where they do fill one as they are, that takes
  // 0.3 of the time.
  bool is_narrow() const { return batch * channels >= kVolumesTogether && has_narrow_rows(); }
  bool has_narrow_rows() const {
    const int64_t span = w.start.back();
    // Large boxes of up to three totals take 0.5 to 1 of the time row by row, but for DOUBLE.
    const bool large = rows_in_box() > 2 && w.longest > 8 && dtype != DType::f64;
    const bool few_alike = w.in <= 2 && span <= 8;
    const bool few = w.in < kVolumesTogether && (w.factor == 0 ? !large : few_alike);
    const bool as_they_are = w.factor == 1 && w.in >= kVolumesTogether;
    const bool short_rows = !as_they_are && (span <= kVolumesTogether + 1 || few);
    const bool suits = (short_rows && w.tiles.size() == 2) || has_long_ranges();
    return suits && !w.joined && !channels_inner && !stream;
  }
  int64_t rows_in_box() const { return d.longest * h.longest; }
};

// Elements of a tile; a row of scratch memory holds as many float64 and a little more. A thread has
// nine of them: sums with what rounding lost, twice; results; and four rows that had to be
// converted.
constexpr int64_t kUpsampleTile = 1024;
constexpr int64_t kUpsampleRow = kUpsampleTile + 8;
constexpr uint64_t kUpsampleScratchBytes = 9 * kUpsampleRow * sizeof(double);

}  // namespace softnpu::kernels
