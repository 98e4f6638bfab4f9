// SPDX-License-Identifier: Apache-2.0
// The plan for the kernel: the axes of both tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/tuning.h"
#include "kernels/upsample_axes.h"

namespace softnpu::kernels {

// Element i of gradInput along an axis is the sum of gradOut's elements [start(i), start(i + 1)).
struct UpsampleNearest3dBackwardTask : UpsampleAxes {
  enum class Mode : uint8_t {
    side,  // see upsample_nearest3d_backward.cpp
    row,
    staged,
    plain,
  };
  Mode mode = Mode::plain;
  DType dtype = DType::undefined;
  int64_t side_block = 1, side_blocks = 1;
  // Rows of gradInput are divided into tiles along W.
  int64_t tile = 1, tiles = 1;

  bool stream = false;  // gradInput is written with non-temporal stores

  // The unit of work: a tile of one row of gradInput, of one block of the side axis.
  int64_t units() const { return tiles * batch.size * channels.size * side_blocks * d.in * h.in; }
};

constexpr int64_t kUpsampleTile = kTileElements;
constexpr int64_t kUpsampleList = kBlockBytes / sizeof(int32_t);  // indices

struct UpsampleScratch {
  // Sums over D and H of a tile, and their rounding errors, followed by the constants 0 and -0.
  double sums[kUpsampleTile + 8], lost[kUpsampleTile + 8];
  alignas(double) std::byte finished[kUpsampleTile * sizeof(double)];  // elements of gradInput
  alignas(64) std::byte staged[kBlockBytes];  // a box, or finished elements of its type
  // The begins of a tile's ranges along W, and of rows along H.
  int32_t columns_from[kUpsampleTile + 1], rows_from[kUpsampleTile + 1];
  int32_t list[kUpsampleList];  // the terms along W (upsample_columns.h)
};

}  // namespace softnpu::kernels
