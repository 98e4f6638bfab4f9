// SPDX-License-Identifier: Apache-2.0
// The plan for the kernel: the axes of both tensors, and the source of each element.
#pragma once

#include <cstdint>

#include "base/tuning.h"
#include "kernels/upsample_axes.h"

namespace softnpu::kernels {

// `count` planes of out from `first` on that are copies of one plane of self.
struct UpsamplePlanes {
  int32_t first, count, source;
};

struct UpsampleNearest3dTask : UpsampleAxes {
  int64_t item = 0;  // bytes of an element
  // The source of each column (W) and of each row (H) of out.
  const int32_t* columns = nullptr;
  const int32_t* rows = nullptr;
  const UpsamplePlanes* planes = nullptr;
  int64_t plane_groups = 0;
  // A row is W with the side axis inside it. It is divided into tiles.
  int64_t tile = 1, tiles = 1;
  bool stream = false;  // out is written with non-temporal stores

  int64_t row_size() const { return w.out * side.size; }
  // The unit of work: a tile of one row of out, in each plane of a group.
  int64_t units() const { return tiles * batch.size * channels.size * plane_groups * h.out; }
};

// The maximum number of elements of a tile.
constexpr int64_t kUpsampleCopied = kBlockBytes / sizeof(int64_t);

}  // namespace softnpu::kernels
