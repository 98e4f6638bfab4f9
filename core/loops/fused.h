// SPDX-License-Identifier: Apache-2.0
// The fast walk for the usual case: all operands of one type, and none that has to be transposed.
// Elements are converted, computed and written without leaving the registers: 1.7 times as fast for
// 16-bit types as staging whole tiles. Rows that are not dense are cut into pieces, which are made
// dense on the way.
#pragma once

#include <type_traits>

#include "loops/stream_out.h"
#include "loops/strided_rows.h"
#include "loops/tiles.h"

#ifdef SOFTNPU_LANES
SOFTNPU_LEVEL_BEGIN

// The longest piece of a row; one of each operand stays in the L1 cache.
constexpr int64_t kPiece = 1024;

// An input of one piece. One that is repeated fills a block, which every block reads again: a
// branch at each load made smooth_l1 with a scalar 1.6 times as slow.
template <class T>
struct FusedInput {
  const T* first;
  int64_t step;
  alignas(64) T held[kPiece];

  void enter(const T* from, int64_t stride, int64_t n, Ahead ahead) {
    step = stride == 0 ? 0 : 1;
    first = stride == 1 ? from : held;
    if (stride == 0)
      repeat_element(*from, kBlock, held);
    else if (stride != 1)
      gather_row(from, stride, n, ahead, held);
  }
};

// What the loop over a row needs of it.
template <class T>
struct FusedRow {
  const T* first;
  int64_t step;

  explicit FusedRow(const FusedInput<T>& input) : first(input.first), step(input.step) {}
  // Dense, or one block that repeats (step 0).
  explicit FusedRow(const T* elements, int64_t step = 1) : first(elements), step(step) {}
  // Elements from `at` + `offset` on, of the block at `at`.
  SOFTNPU_INLINE Lanes at(int64_t at, int64_t offset = 0) const {
    return load_lanes(first + at * step + offset);
  }
  // n elements from `at` on, which may lie behind the input, into the first cache: smooth_l1 with
  // 64M elements is 1.1 times as fast as with the second.
  SOFTNPU_INLINE void prefetch_at(int64_t at, int64_t n) const {
    prefetch_row<kFirstCache>(first + at * step, n);
  }
  SOFTNPU_INLINE Lanes some(int64_t at, int64_t count) const {
    return load_some(first + at * step, count);
  }
};

// Elements [at, end), fewer than a block.
template <class Formula, class T, class... In>
SOFTNPU_INLINE void fused_part(const Formula& formula, int64_t at, int64_t end, T* out,
                               const In&... in) {
  for (; at + kLanes <= end; at += kLanes)
    store_lanes(apply_lanes(formula, in.at(at)...), out + at);
  if (at < end) store_some(apply_lanes(formula, in.some(at, end - at)...), out + at, end - at);
}

template <bool kStreams, class Formula, class T, class... In>
SOFTNPU_INLINE void fused_row(const Formula formula, int64_t n, int64_t ahead, T* out,
                              const In... in) {
  // Whole lines of the result: streaming stores need them, and arrays that begin off a line mostly
  // do so together, so that their loads become whole, too. Rows of 255 FLOAT take 0.75 to 0.9 of
  // the time; those of 16-bit types would take up to 1.1 times as long.
  constexpr int64_t kLongRow = sizeof(T) == sizeof(float) ? 192 : 2048;
  int64_t at = 0;
  if (kStreams || n >= kLongRow) {
    const int64_t head = elements_before_line(out);
    at = least(head, n);
    fused_part(formula, 0, at, out, in...);
  }
  for (; at + kBlock <= n; at += kBlock) {
    alignas(64) T lines[kBlock];
    if constexpr (kStreams) (in.prefetch_at(at + ahead, kBlock), ...);
    apply_block(formula, kStreams ? lines : out + at,
                block_of([&](int64_t i) SOFTNPU_INLINED { return in.at(at, i * kLanes); })...);
    if constexpr (kStreams) stream_lines(out + at, lines);
  }
  fused_part(formula, at, n, out, in...);
}

// How many of the elements that are left of a row make its next piece. The one after it begins with
// a line of the output.
template <class T>
int64_t piece_of_row(const T* out, bool whole, int64_t left) {
  if (whole) return left;
  return least(left, kPiece - kBlock + elements_before_line(out));
}

constexpr int64_t kFloatLine = 64 / sizeof(float);

// Dense FLOAT line by line, for results that are written past the caches. All inputs are read in
// one sequence: four lines of one and then four of the next took selu with 16M elements 1.05 to 1.1
// times as long, smooth_l1 1.03 times; with 64M both 1.1 times, although they were prefetched. elu
// with exp takes 0.65 to 0.95 of the time on a Zen 4, 0.87 to 0.99 in vectors of eight.
template <class Formula, class... In>
SOFTNPU_INLINE void stream_row(const Formula formula, int64_t n, int64_t ahead, float* out,
                               const In... in) {
  int64_t at = least(elements_before_line(out), n);
  fused_part(formula, 0, at, out, in...);
  for (; at + kFloatLine <= n; at += kFloatLine) {
    alignas(64) float line[kFloatLine];
    if (ahead != 0) (in.prefetch_at(at + ahead, kFloatLine), ...);
    for (int64_t i = 0; i < kFloatLine; i += kLanes)
      store_lanes(apply_lanes(formula, in.at(at, i)...), line + i);
    stream_lines(out + at, line);
  }
  fused_part(formula, at, n, out, in...);
}

// A walk of its own: as a case in the rows of walk_fused() it changed what is inlined around these,
// and calls on 16 PyTorch elements took 8 % more time.
template <int Inputs, class Formula>
void walk_lines(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                int64_t begin, int64_t end) {
  alignas(64) float held[Inputs][kFloatLine];  // of inputs that are repeated
  // With little arithmetic the machine's own guesses do: selu took up to 1.1 times as long.
  const int64_t ahead = may_be_rare(formula) ? l.ahead : 0;
  for (int64_t index = begin; index < end;) {
    Tile tile = locate(l, index);
    index += join_tiles(l, index, end, tile);
    for (int64_t y = 0; y < tile.height; ++y) {
      const auto row = [&](int k) {
        return reinterpret_cast<float*>(origins[k]) + tile.at[k] + y * l.sy[k];
      };
      const auto input = [&](int k) SOFTNPU_INLINED {
        if (l.sx[k] == 1) return FusedRow<float>(row(k));
        repeat_element(*row(k), kFloatLine, held[k]);
        return FusedRow<float>(held[k], 0);
      };
      with_inputs<Inputs>([&](auto... k) SOFTNPU_INLINED {
        stream_row(formula, tile.width, ahead, row(Inputs), input(k)...);
      });
    }
  }
  finish_streaming();
}

template <class Formula>
bool goes_line_by_line(const ElementwiseLayout& l, const Formula& formula) {
  return l.by_line || (!may_be_rare(formula) && l.has_dense_rows_only());
}

template <int Inputs, class T, bool kStreams, class Formula>
void walk_fused(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                int64_t begin, int64_t end) {
  if constexpr (kStreams && std::is_same_v<T, float>)
    if (goes_line_by_line(l, formula)) return walk_lines<Inputs>(l, origins, formula, begin, end);
  FusedInput<T> in[Inputs];
  alignas(64) T held[kPiece];
  const bool whole = l.has_dense_rows();
  const int64_t out_sx = l.sx[Inputs];
  constexpr int64_t kStridedAhead = 1024;
  const Ahead ahead{l.far ? kStridedAhead : 0, true};
  for (int64_t index = begin; index < end;) {
    Tile tile = locate(l, index);
    index += join_tiles(l, index, end, tile);
    for (int64_t y = 0; y < tile.height; ++y) {
      T* const row = reinterpret_cast<T*>(origins[Inputs]) + tile.at[Inputs] + y * l.sy[Inputs];
      for (int64_t x = 0, n; x < tile.width; x += n) {
        T* const to = row + x * out_sx;
        n = piece_of_row(to, whole, tile.width - x);
        for (int k = 0; k < Inputs; ++k)
          in[k].enter(
              reinterpret_cast<const T*>(origins[k]) + tile.at[k] + y * l.sy[k] + x * l.sx[k],
              l.sx[k], n, ahead);
        T* const out = out_sx == 1 ? to : held;
        with_inputs<Inputs>([&](auto... k) SOFTNPU_INLINED {
          fused_row<kStreams>(formula, n, l.ahead, out, FusedRow(in[k])...);
        });
        if (out_sx != 1) scatter_row(held, n, to, out_sx, {});
      }
    }
  }
  if constexpr (kStreams) finish_streaming();
}

// Whether walk_fused() applies; short rows are left to the other walk, which gathers them.
inline bool can_fuse(const ElementwiseLayout& l) {
  if (l.tile_x < kLanes || !has_lanes(l.dtype[0])) return false;
  for (int k = 0; k < l.operands; ++k) {
    if (l.dtype[k] != l.dtype[0]) return false;
    if (l.is_transposed(k)) return false;
  }
  return true;
}

// False where it does not apply.
template <int Inputs, class Formula>
bool try_fused(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
               int64_t begin, int64_t end) {
  if (!can_fuse(l)) return false;
  const bool streams = l.stream && l.sx[Inputs] == 1;
  with_lanes_type(l.dtype[0], [&]<class T>() {
    streams ? walk_fused<Inputs, T, true>(l, origins, formula, begin, end)
            : walk_fused<Inputs, T, false>(l, origins, formula, begin, end);
  });
  return true;
}

SOFTNPU_LEVEL_END
#endif
