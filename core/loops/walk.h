// SPDX-License-Identifier: Apache-2.0
// The walk over the tiles of an elementwise operator: bring a tile of each input into a dense
// buffer, apply the formula with a plain loop, write the tile out. A dense operand of the tile's
// own type is used where it lies.
#pragma once

#include "loops/convert.h"
#include "loops/elementwise.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

using loops::ElementwiseLayout;
using loops::kMaxOperands;

template <class Stage>
constexpr DType kStageType = DType::f32;
template <>
constexpr DType kStageType<double> = DType::undefined;  // INT32 is always converted

// Where tile number `index` lies.
struct Tile {
  int64_t width, height;
  int64_t at[kMaxOperands];  // its first element in each operand, in elements
};

inline Tile locate(const ElementwiseLayout& l, int64_t index) {
  const int64_t x = index % l.tiles_x * l.tile_x;
  index /= l.tiles_x;
  const int64_t y = index % l.tiles_y * l.tile_y;
  index /= l.tiles_y;
  Tile tile;
  tile.width = l.nx - x < l.tile_x ? l.nx - x : l.tile_x;
  tile.height = l.ny - y < l.tile_y ? l.ny - y : l.tile_y;
  for (int k = 0; k < l.operands; ++k) tile.at[k] = x * l.sx[k] + y * l.sy[k];
  for (size_t d = l.outer.size(); d-- > 0;) {
    const int64_t i = index % l.outer[d];
    index /= l.outer[d];
    for (int k = 0; k < l.operands; ++k) tile.at[k] += i * l.outer_strides[k][d];
  }
  return tile;
}

// The tile of one input as dense rows: where it lies, or copied into `buffer`.
template <class Stage>
const Stage* read_tile(const ElementwiseLayout& l, int k, const Tile& tile, const std::byte* first,
                       Reader<Stage> reader, Stage* buffer) {
  const int64_t item = item_size(l.dtype[k]);
  if (l.dtype[k] == kStageType<Stage> && l.sx[k] == 1 && tile.height == 1)
    return reinterpret_cast<const Stage*>(first);
  if (l.sy[k] == 1 && l.sx[k] != 1 && l.sx[k] != 0 && tile.height > 1) {
    reader.transposed(first, l.sx[k], tile.width, tile.height, buffer);
    return buffer;
  }
  for (int64_t y = 0; y < tile.height; ++y)
    reader.row(first + y * l.sy[k] * item, l.sx[k], tile.width, buffer + y * tile.width);
  return buffer;
}

template <class Formula, class Stage, class... In>
void apply(const Formula& formula, int64_t n, Stage* out, const In*... in) {
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = formula(in[i]...);
}

// `Formula` has a call operator on `Inputs` values of type Stage.
template <int Inputs, class Stage, class Formula>
void walk(const ElementwiseLayout& l, std::byte* const* origins, const void* formula_bytes,
          int64_t begin, int64_t end) {
  const Formula formula = *static_cast<const Formula*>(formula_bytes);
  alignas(64) Stage buffers[Inputs + 1][loops::kTileElements];
  Reader<Stage> readers[Inputs];
  for (int k = 0; k < Inputs; ++k) readers[k] = reader(l.dtype[k], Stage{});
  const Writer<Stage> write = writer(l.dtype[Inputs], Stage{});
  const int64_t out_item = item_size(l.dtype[Inputs]);

  for (int64_t index = begin; index < end; ++index) {
    const Tile tile = locate(l, index);
    const Stage* in[Inputs];
    for (int k = 0; k < Inputs; ++k)
      in[k] = read_tile(l, k, tile, origins[k] + tile.at[k] * item_size(l.dtype[k]), readers[k],
                        buffers[k]);
    std::byte* const to = origins[Inputs] + tile.at[Inputs] * out_item;
    const bool in_place =
        l.dtype[Inputs] == kStageType<Stage> && l.sx[Inputs] == 1 && tile.height == 1;
    Stage* const out = in_place ? reinterpret_cast<Stage*>(to) : buffers[Inputs];
    const int64_t n = tile.width * tile.height;
    if constexpr (Inputs == 2)
      apply(formula, n, out, in[0], in[1]);
    else
      apply(formula, n, out, in[0], in[1], in[2]);
    if (in_place) continue;
    for (int64_t y = 0; y < tile.height; ++y)
      write(out + y * tile.width, l.sx[Inputs], tile.width, to + y * l.sy[Inputs] * out_item);
  }
}

SOFTNPU_LEVEL_END
