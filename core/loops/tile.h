// SPDX-License-Identifier: Apache-2.0
// The location of an elementwise operator's tiles.
#pragma once

#include "loops/elementwise.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

using loops::ElementwiseLayout;
using loops::kMaxOperands;

// A tile's size and location.
struct Tile {
  int64_t width, height;
  int64_t at[kMaxOperands];  // its first element in each operand, in elements
};

inline Tile locate(const ElementwiseLayout& l, int64_t index) {
  int64_t x = index, y = 0;
  // The usual layouts need no divisions, which would slow down small tiles.
  const bool flat = l.outer.empty() && !l.y_first;
  if (flat && l.tiles_x == 1) {
    x = 0;
    y = index * l.tile_y;
  } else if (l.tiles != l.tiles_x) {
    const int64_t first = l.y_first ? l.tiles_y : l.tiles_x;
    const int64_t second = l.y_first ? l.tiles_x : l.tiles_y;
    x = index % first;
    index /= first;
    y = index % second;
    index /= second;
    if (l.y_first) {
      const int64_t swapped = x;
      x = y;
      y = swapped;
    }
    y *= l.tile_y;
  }
  x *= l.tile_x;
  Tile tile;
  tile.width = least(l.nx - x, l.tile_x);
  tile.height = least(l.ny - y, l.tile_y);
  for (int k = 0; k < l.operands; ++k) tile.at[k] = x * l.sx[k] + y * l.sy[k];
  for (size_t d = flat ? 0 : l.outer.size(); d-- > 0;) {
    const int64_t i = index % l.outer[d];
    index /= l.outer[d];
    for (int k = 0; k < l.operands; ++k) tile.at[k] += i * l.outer_strides[k][d];
  }
  return tile;
}

// Merges consecutive tiles along x, or else along y, up to `end`, to pay the cost of a tile and of
// a row's ends once. Returns how many tiles were merged.
inline int64_t join_tiles(const ElementwiseLayout& l, int64_t index, int64_t end, Tile& tile) {
  if (l.y_first) return 1;
  if (l.tile_y == 1 && l.tiles_x > 1) {
    const int64_t x = l.tiles_x == l.tiles ? index : index % l.tiles_x;
    const int64_t joined = least(end - index, l.tiles_x - x);
    tile.width = least(l.nx - x * l.tile_x, joined * l.tile_x);
    return joined;
  }
  if (l.tiles_x > 1) return 1;
  const int64_t y = l.tiles == l.tiles_y ? index : index % l.tiles_y;
  const int64_t joined = least(end - index, l.tiles_y - y);
  tile.height = least(l.ny - y * l.tile_y, joined * l.tile_y);
  return joined;
}

SOFTNPU_LEVEL_END
