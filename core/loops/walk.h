// SPDX-License-Identifier: Apache-2.0
// The walk over the tiles of an elementwise operator. walk() tries the walks for layouts that come
// often, each of which says where it applies, and otherwise takes the one that is here, for all
// layouts and types: bring a tile of each input into a dense buffer, apply the formula with a plain
// loop, write the tile out. A dense operand of the tile's own type is used where it lies.
#pragma once

#include <type_traits>

#include "loops/fused.h"
#include "loops/gathered.h"
#include "loops/joined_rows.h"
#include "loops/scratch.h"
#include "loops/tiles.h"
#include "loops/transpose.h"
#include "loops/transposed_rows.h"

SOFTNPU_LEVEL_BEGIN

template <class Stage>
constexpr DType kStageType =
    std::is_same_v<Stage, float> ? DType::f32 : DType::undefined;  // INT32 is always converted

// How to read one input of type T.
template <class Stage>
struct Reader {
  void (*row)(const std::byte*, int64_t, int64_t, Stage*);
  void (*transposed)(const std::byte*, int64_t, int64_t, int64_t, bool, Stage*);
};
template <class T, class Stage>
constexpr Reader<Stage> kReader{load_row<T, Stage>, load_transposed<T, Stage>};

inline Reader<float> reader(DType type, float) {
  switch (type) {
    case DType::f16:
      return kReader<f16, float>;
    case DType::bf16:
      return kReader<bf16, float>;
    case DType::i8:
      return kReader<int8_t, float>;
    default:
      return kReader<float, float>;
  }
}
inline Reader<double> reader(DType, double) { return kReader<int32_t, double>; }

// One input of the current tile.
template <class Stage>
struct Input {
  Reader<Stage> reader;
  int64_t item, sx, sy;
  bool far;
  bool dense;           // of the tile's own type and dense along x: used where it lies
  bool transposed;      // dense along y: the whole tile is brought into the buffer at once
  const std::byte* at;  // the tile's first element
  Stage* buffer;

  Input(const ElementwiseLayout& l, int k, Stage* space)
      : reader(kernels::SOFTNPU_LEVEL::reader(l.dtype[k], Stage{})),
        item(item_size(l.dtype[k])),
        sx(l.sx[k]),
        sy(l.sy[k]),
        far(l.far),
        dense(l.dtype[k] == kStageType<Stage> && sx == 1),
        transposed(l.is_transposed(k)),
        at(nullptr),
        buffer(space) {}

  void enter(const Tile& tile, const std::byte* first) {
    at = first;
    if (transposed) reader.transposed(first, sx, tile.width, tile.height, far, buffer);
  }
  // Prefetches row y of the tile after next along y, as transposed inputs do for themselves.
  void prefetch_at(const Tile& tile, int64_t y) const {
    if (transposed) return;
    const std::byte* const first = at + (y + 2 * tile.height) * sy * item;
    const int64_t bytes = sx == 1 ? tile.width * item : 1;
    prefetch_row(first, bytes);
  }
  // Rows [y, y + height) of the tile, one behind the other.
  const Stage* rows(const Tile& tile, int64_t y, int64_t height) const {
    if (transposed) return buffer + y * tile.width;
    const std::byte* const first = at + y * sy * item;
    if (dense && height == 1) return reinterpret_cast<const Stage*>(first);
    for (int64_t i = 0; i < height; ++i)
      reader.row(first + i * sy * item, sx, tile.width, buffer + i * tile.width);
    return buffer;
  }
};

// Whole tiles of inputs that are transposed, rows of the others.
template <class Stage>
struct StagedTiles {
  alignas(64) Stage elements[loops::kMostBlockElements + 4 * loops::kRowElements];
  alignas(64) std::byte narrowed[loops::kRowElements * sizeof(Complex<double>)];
};

// `Formula` has a call operator on `Inputs` values of type Stage. Long rows are worked on one by
// one, where they lie if they can be; short ones are gathered, so that a tile's cost is shared.
template <int Inputs, class Stage, class Formula>
void walk_staged(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                 int64_t begin, int64_t end, StagedTiles<Stage>& tiles) noexcept {
  constexpr int64_t kLongRow = 64;
  Stage* const space = tiles.elements;
  Stage* left = space + loops::kRowElements;
  const auto take = [&](int k) {
    Stage* const taken = left;
    left += l.is_transposed(k) ? (l.tile_x * l.tile_y + 15) / 16 * 16 : loops::kRowElements;
    return taken;
  };
  // The third one is there for formulas of three inputs only.
  Input<Stage> in[3] = {{l, 0, take(0)}, {l, 1, take(1)}, {l, Inputs - 1, left}};
  const Writer<Stage> write = writer(l.dtype[Inputs], Stage{});
  const int64_t out_item = item_size(l.dtype[Inputs]);
  const bool out_dense = l.dtype[Inputs] == kStageType<Stage> && l.sx[Inputs] == 1;

  const bool streams = l.stream && l.sx[Inputs] == 1;
  bool transposes = false;
  for (int k = 0; k < Inputs; ++k) transposes |= in[k].transposed;

  for (int64_t index = begin; index < end; ++index) {
    const Tile tile = locate(l, index);
    for (int k = 0; k < Inputs; ++k) in[k].enter(tile, origins[k] + tile.at[k] * in[k].item);
    const int64_t most = tile.width >= kLongRow ? 1 : loops::kRowElements / tile.width;
    for (int64_t y = 0, step; y < tile.height; y += step) {
      step = least(tile.height - y, most);
      std::byte* const to = origins[Inputs] + (tile.at[Inputs] + y * l.sy[Inputs]) * out_item;
      const bool in_place = out_dense && step == 1 && !streams;
      Stage* const out = in_place ? reinterpret_cast<Stage*>(to) : space;
      const int64_t n = tile.width * step;
      if (l.far && transposes)
        for (int k = 0; k < Inputs; ++k) in[k].prefetch_at(tile, y);
      with_inputs<Inputs>(
          [&](auto... k) SOFTNPU_INLINED { apply(formula, n, out, in[k].rows(tile, y, step)...); });
      if (in_place) continue;
      if (streams && step == 1) {
        if (!out_dense) write(out, 1, n, tiles.narrowed);
        stream_out(to, out_dense ? reinterpret_cast<std::byte*>(out) : tiles.narrowed,
                   n * out_item);
        continue;
      }
      for (int64_t i = 0; i < step; ++i)
        write(out + i * tile.width, l.sx[Inputs], tile.width, to + i * l.sy[Inputs] * out_item);
    }
  }
  if (streams) finish_streaming();
}

// Not inlined: the other walks need no more of the stack than their own.
template <int Inputs, class Stage, class Formula>
__attribute__((noinline)) void walk_all(const ElementwiseLayout& l, std::byte* const* origins,
                                        const Formula& formula, int64_t begin, int64_t end) {
  const loops::Scratch scratch;
  walk_staged<Inputs>(l, origins, formula, begin, end, scratch.as<StagedTiles<Stage>>());
}

template <int Inputs, class Stage, class Formula>
void walk(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
          int64_t begin, int64_t end) {
  if constexpr (std::is_same_v<Stage, float>)
    if (l.gathered) return walk_gathered<Inputs>(l, origins, formula, begin, end);
#ifdef SOFTNPU_LANES
  if constexpr (takes_lanes<Formula, Inputs>()) {
    if (try_joined<Inputs>(l, origins, formula, begin, end)) return;
    if (try_fused<Inputs>(l, origins, formula, begin, end)) return;
    if (try_transposed<Inputs>(l, origins, formula, begin, end)) return;
  }
#endif
  walk_all<Inputs, Stage>(l, origins, formula, begin, end);
}

SOFTNPU_LEVEL_END
