// SPDX-License-Identifier: Apache-2.0
// Chooses how the gradient of nearest upsampling reads gradOut.
#include <algorithm>

#include "ops/operators.h"
#include "ops/upsample.h"

namespace softnpu::ops {
namespace {

using Args = UpsampleNearest3dBackward::Args;
using Task = kernels::UpsampleNearest3dBackwardTask;
using kernels::UpsampleAxis;

constexpr int64_t kTile = kernels::kUpsampleTile;

// The number of elements of gradInput along W that, like their ranges in gradOut, fit `room`
// elements of scratch memory; at least one.
int64_t tile_for(const UpsampleAxis& w, int64_t room) {
  const int64_t most = std::min(room, static_cast<int64_t>(static_cast<float>(room - 2) / w.scale));
  const int64_t tile = std::clamp<int64_t>(most, 1, w.in);
  const int64_t tiles = (w.in + tile - 1) / tile;
  return (w.in + tiles - 1) / tiles;
}

// Chooses blocks for staging. Returns false if a box of one element does not fit scratch memory.
bool try_staging(Task& t) {
  if (t.side.size == 1) {
    std::swap(t.side, t.channels.size >= t.batch.size ? t.channels : t.batch);
  }
  const int64_t rows = t.d.longest() * t.h.longest();
  const int64_t room = kBlockBytes / item_size(t.dtype);
  // 16-bit elements fill vectors with twice as many.
  t.side_block = std::min(t.side.size, (item_size(t.dtype) == 2 ? 2 : 1) * kUpsampleSide);
  if (rows > room / (t.w.longest() * t.side_block)) return false;
  const int64_t positions = std::min(room / (rows * t.side_block), kTile / t.side_block);
  t.tile = tile_for(t.w, positions);
  return true;
}

void choose_mode(Task& t) {
  const bool adjacent = t.side.size == 1 || t.side.out_stride == 1;
  const bool dense_row = adjacent && t.w.out_stride == t.side.size;
  const bool large_boxes =
      t.d.scale * t.h.scale >= kMostStreams && t.side.size * t.w.longest() <= kTile / 2;
  if (adjacent && t.side.size >= kUpsampleSide && !(dense_row && large_boxes)) {
    t.mode = Task::Mode::side;
    const int64_t blocks = (t.side.size + kTile - 1) / kTile;
    t.side_block = (t.side.size + blocks - 1) / blocks;
    t.tile = std::min(t.w.in, kTile / t.side_block);
  } else if (dense_row && t.w.out * t.side.size >= kUpsampleSide) {
    t.mode = Task::Mode::row;
    t.side_block = t.side.size;
    t.tile = tile_for(t.w, kTile / t.side_block);
    t.tile = std::min(t.tile, kernels::kUpsampleList / (t.side_block * t.w.longest()));
    t.tile = std::max<int64_t>(t.tile, 1);
  } else if (try_staging(t)) {
    t.mode = Task::Mode::staged;
  } else {
    t.mode = Task::Mode::plain;
    t.tile = std::min(t.w.in, kTile / t.side_block);
  }
  t.tiles = (t.w.in + t.tile - 1) / t.tile;
  t.side_blocks = (t.side.size + t.side_block - 1) / t.side_block;
}

}  // namespace

UpsampleNearest3dBackward::Plan UpsampleNearest3dBackward::plan(const Args& a) {
  const Tensor& in = *a.grad_input;
  Task t{upsample_axes(*a.grad_out, in, scales_of(a))};
  t.dtype = in.dtype;
  choose_mode(t);
  t.stream = in.numel() * item_size(in.dtype) >= kFarBytes;
  return Plan(t);
}

}  // namespace softnpu::ops
