// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample_task.h"

#include <algorithm>

namespace softnpu::ops {
namespace {

using Args = UpsampleNearest3dBackward::Args;
using Task = kernels::UpsampleNearest3dBackwardTask;
using kernels::UpsampleAxis;
using kernels::UpsampleOuter;

// Vectors along the side axis have so many elements at least; with fewer, rows along W are longer.
constexpr int64_t kLeastSide = 8;
// A block of the side axis: the sums of one stay in the L1 cache, and large planes have several.
constexpr int64_t kMostSide = 512;
// From this size on, no cache keeps gradInput until it is read.
constexpr int64_t kStreamBytes = int64_t{16} << 20;
// So many channels are staged beside each other: two registers, or a line of FLOAT.
constexpr int64_t kStagedSide = 16;

// One axis of `outer` and the one inside it, where their elements follow each other in both
// tensors.
bool follows(const UpsampleOuter& outer, const UpsampleOuter& inner) {
  return outer.in_stride == inner.size * inner.in_stride &&
         outer.out_stride == inner.size * inner.out_stride;
}

// Elements along W that do not add up join the side axis; H becomes W, D becomes H.
void join_identity_axes(Task& t) {
  for (int axes = 0; axes < 3 && t.w.is_identity(); ++axes) {
    const UpsampleOuter w{t.w.in, t.w.in_stride, t.w.out_stride};
    if (w.size > 1) {
      if (t.side.size == 1)
        t.side = w;
      else if (follows(w, t.side))
        t.side.size *= w.size;
      else
        return;
    }
    t.w = t.h;
    t.h = t.d;
    t.d = {};
  }
}

void arrange_outer_axes(Task& t) {
  const bool w_is_dense = t.w.out > 1 && t.w.out_stride == 1;
  if (t.channels.size > 1 && t.channels.out_stride == 1 && !w_is_dense) {
    t.side = t.channels;
    t.channels = {};
  } else if (t.batch.size == 1 || t.channels.size == 1 || follows(t.batch, t.channels)) {
    const int64_t size = t.batch.size * t.channels.size;
    if (t.channels.size == 1) t.channels = t.batch;
    t.channels.size = size;
    t.batch = {};
  }
}

// How many elements of gradInput along W have `room` in scratch memory, as their ranges in gradOut
// do; one at least.
int64_t tile_for(const UpsampleAxis& w, int64_t room) {
  const int64_t most = std::min(room, static_cast<int64_t>(static_cast<float>(room - 2) / w.scale));
  const int64_t tile = std::clamp<int64_t>(most, 1, w.in);
  const int64_t tiles = (w.in + tile - 1) / tile;
  return (w.in + tiles - 1) / tiles;
}

// A box of one element of gradInput has room for its copy, side by side with others.
bool try_staging(Task& t) {
  if (t.side.size == 1) {
    std::swap(t.side, t.channels.size >= t.batch.size ? t.channels : t.batch);
  }
  const int64_t rows = t.d.longest() * t.h.longest();
  const int64_t room = kernels::kUpsampleStaged / item_size(t.dtype);
  t.side_block = std::min(t.side.size, kStagedSide);
  if (rows > room / (t.w.longest() * t.side_block)) return false;
  const int64_t positions =
      std::min(room / (rows * t.side_block), kernels::kUpsampleTile / t.side_block);
  t.tile = tile_for(t.w, positions);
  return true;
}

void choose_mode(Task& t) {
  const bool adjacent = t.side.size == 1 || t.side.out_stride == 1;
  const bool dense_row = adjacent && t.w.out_stride == t.side.size;
  const bool large_boxes = t.d.scale * t.h.scale >= kernels::kUpsampleLargeBox &&
                           t.side.size * t.w.longest() <= kernels::kUpsampleTile / 2;
  if (adjacent && t.side.size >= kLeastSide && !(dense_row && large_boxes)) {
    t.mode = Task::Mode::side;
    const int64_t blocks = (t.side.size + kMostSide - 1) / kMostSide;
    t.side_block = (t.side.size + blocks - 1) / blocks;
    t.tile = std::min(t.w.in, kernels::kUpsampleTile / t.side_block);
  } else if (dense_row && t.w.out * t.side.size >= kLeastSide) {
    t.mode = Task::Mode::row;
    t.side_block = t.side.size;
    t.tile = tile_for(t.w, kernels::kUpsampleTile / t.side_block);
    if (t.w.longest() > kernels::kUpsampleListed)
      t.tile = std::min(t.tile, kernels::kUpsampleList / (t.side_block * t.w.longest()));
    t.tile = std::max<int64_t>(t.tile, 1);
  } else if (try_staging(t)) {
    t.mode = Task::Mode::staged;
  } else {
    t.mode = Task::Mode::plain;
    t.tile = std::min(t.w.in, kernels::kUpsampleTile / t.side_block);
  }
  t.tiles = (t.w.in + t.tile - 1) / t.tile;
  t.side_blocks = (t.side.size + t.side_block - 1) / t.side_block;
}

}  // namespace

Task upsample_task(const Args& a) {
  const Tensor& out = *a.grad_out;
  const Tensor& in = *a.grad_input;
  const Axes at = axes_of(out);
  // That of an axis with one element may be anything.
  const auto stride = [](const Tensor& tensor, size_t i) {
    return tensor.sizes[i] == 1 ? 0 : tensor.strides[i];
  };
  const auto axis = [&, given = scales_given(a)](size_t i, double scale) {
    const auto ratio = static_cast<float>(out.sizes[i]) / static_cast<float>(in.sizes[i]);
    return UpsampleAxis{in.sizes[i], out.sizes[i], stride(in, i), stride(out, i),
                        given ? static_cast<float>(scale) : ratio};
  };
  const auto outer = [&](size_t i) {
    return UpsampleOuter{out.sizes[i], stride(in, i), stride(out, i)};
  };
  Task t{.dtype = out.dtype,
         .batch = outer(at.n),
         .channels = outer(at.c),
         .d = axis(at.d, a.scales_d),
         .h = axis(at.h, a.scales_h),
         .w = axis(at.w, a.scales_w),
         .side = {}};
  arrange_outer_axes(t);
  join_identity_axes(t);
  choose_mode(t);
  t.stream = in.numel() * item_size(in.dtype) >= kStreamBytes;
  return t;
}

}  // namespace softnpu::ops
