// SPDX-License-Identifier: Apache-2.0
// What phase one hands to the kernel: the axes of both tensors as the kernel walks them.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace softnpu::kernels {

// One axis along which elements are added up: element i of gradInput is the sum of gradOut's
// elements [start(i), start(i + 1)).
struct UpsampleAxis {
  int64_t in = 1, out = 1;                // sizes in gradInput and in gradOut
  int64_t in_stride = 0, out_stride = 0;  // in elements
  float scale = 1;

  // The contract's start(i): ceil(i · scale) in float32, at most `out`. Sizes are at most 2^20,
  // which float32 and int32 hold.
  int64_t start(int64_t i) const {
    const float product = static_cast<float>(i) * scale, end = static_cast<float>(out);
    const float at = product < end ? product : end;
    const auto below = static_cast<int32_t>(at);
    return below + (static_cast<float>(below) < at);
  }
  bool is_identity() const { return scale == 1 && in == out; }
  // No range is longer. Products are rounded, so that one may be longer than ceil(scale).
  int64_t longest() const { return static_cast<int64_t>(scale < out ? scale : out) + 2; }
};

// An axis along which gradOut and gradInput have the same elements.
struct UpsampleOuter {
  int64_t size = 1, in_stride = 0, out_stride = 0;
};

struct UpsampleNearest3dBackwardTask {
  enum class Mode : uint8_t {
    side,    // elements that do not add up are adjacent: vectors of them are summed
    row,     // elements along W are adjacent: rows are summed, then neighbours in the sum
    staged,  // neither: a box is copied to scratch memory, where the former holds
    plain,   // element by element, for boxes too large to be staged
  };
  Mode mode = Mode::plain;
  DType dtype = DType::undefined;
  UpsampleOuter batch, channels;
  UpsampleAxis d, h, w;
  // The side axis: channels that are innermost, with all axes of scale 1 that are adjacent to them.
  // It is cut into blocks.
  UpsampleOuter side;
  int64_t side_block = 1, side_blocks = 1;
  // Rows of gradInput are cut into tiles along W.
  int64_t tile = 1, tiles = 1;

  bool stream = false;  // gradInput is written past the caches

  // The unit of work: a tile of one row of gradInput, of one block of the side axis.
  int64_t units() const { return tiles * batch.size * channels.size * side_blocks * d.in * h.in; }
};

// What a thread's scratch memory holds: sums of a tile, the finished elements of one, the lists of
// what is added up along W, and a box that is staged.
constexpr int64_t kUpsampleTile = 1024;     // elements
constexpr int64_t kUpsampleList = 8192;     // places of elements
constexpr int64_t kUpsampleStaged = 32768;  // bytes
constexpr uint64_t kUpsampleScratchBytes =
    (2 * (kUpsampleTile + 8) + kUpsampleTile) * sizeof(double) + kUpsampleStaged +
    (kUpsampleList + 2 * (kUpsampleTile + 16)) * sizeof(int32_t);
// Boxes of so many rows, over D and H, are read row by row.
constexpr int64_t kUpsampleLargeBox = 12;
// Longer ranges along W have no lists.
constexpr int64_t kUpsampleListed = 8;

}  // namespace softnpu::kernels
