// SPDX-License-Identifier: Apache-2.0
// A formula's loops over contiguous rows, one for each type that all its operands may have. Only
// these loops are compiled for each formula: the walks (kernels/elementwise.cpp) make rows
// contiguous and call them.
#pragma once

#include <type_traits>
#include <utility>

#include "loops/blocks.h"
#include "loops/elementwise.h"
#include "loops/stream_out.h"

SOFTNPU_LEVEL_BEGIN

using loops::ElementwiseLayout;
using loops::kMaxOperands;

// One row of all operands. An input with step 0 repeats one element, which is stored kRepeated
// times.
struct Row {
  int64_t n;
  void* out;
  const void* in[kMaxOperands - 1];
  int64_t step[kMaxOperands - 1];
};
using RowLoop = void (*)(const void* formula, const Row& row);

// For each type: a loop with plain stores and one with streaming stores. Null for unsupported
// types.
struct RowLoops {
  int inputs;
  RowLoop f32[2], f16[2], bf16[2], i8[2], i32[2];
  bool stores = true;  // false if the formula's results are summed

  const RowLoop* of(DType type) const {
    switch (type) {
      case DType::f16:
        return f16;
      case DType::bf16:
        return bf16;
      case DType::i8:
        return i8;
      case DType::i32:
        return i32;
      default:
        return f32;
    }
  }
};

template <class T>
struct RowInput {
  const T* first;
  int64_t step;

  RowInput(const Row& row, int k) : first(static_cast<const T*>(row.in[k])), step(row.step[k]) {}

  const T* from(int64_t at) const { return first + at * step; }
#ifdef SOFTNPU_LANES
  SOFTNPU_INLINE Lanes lanes(int64_t at, int64_t offset = 0) const {
    return load_lanes(from(at) + offset);
  }
  SOFTNPU_INLINE Lanes some(int64_t at, int64_t count) const { return load_some(from(at), count); }
#endif
};

// Elements converted to float32.
template <class T>
struct Widened {
  float values[kRepeated];
  Widened(const T* in, int64_t n) { load_dense(in, n, values); }
};

// Computes at most kRepeated elements with scalar loops.
template <class Formula, class T, class... In>
SOFTNPU_INLINE void plain_piece(const Formula& formula, int64_t n, T* out, const In*... in) {
  if constexpr (std::is_same_v<T, float>) {
    apply_plain(formula, n, out, in...);
  } else if constexpr (std::is_integral_v<T>) {
    SOFTNPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) narrow(formula(in[i]...), out[i]);
  } else {
    float results[kRepeated];
    apply_plain(formula, n, results, Widened<T>(in, n).values...);
    store_dense(results, n, out);
  }
}

template <bool kStreams, class Formula, class T, class... In>
void plain_row(const Formula formula, const Row& row, T* out, const In... in) {
  constexpr int64_t kPiece = kStreams ? 64 / sizeof(T) : kRepeated;
  for (int64_t at = 0, count; at < row.n; at += count) {
    // Pieces of a streamed row are cache lines, after the part before the first line.
    const int64_t head = kStreams && at == 0 ? elements_before_line(out) : 0;
    count = least(row.n - at, head > 0 ? head : kPiece);
    if constexpr (kStreams) {
      alignas(64) T line[kPiece];
      plain_piece(formula, count, line, in.from(at)...);
      stream_out(reinterpret_cast<std::byte*>(out + at), reinterpret_cast<const std::byte*>(line),
                 count * static_cast<int64_t>(sizeof(T)));
    } else {
      plain_piece(formula, count, out + at, in.from(at)...);
    }
  }
}

#ifdef SOFTNPU_LANES
// Computes elements [at, end), fewer than a block.
template <class Formula, class T, class... In>
SOFTNPU_INLINE void row_part(const Formula& formula, int64_t at, int64_t end, T* out,
                             const In&... in) {
  for (; at + kLanes <= end; at += kLanes)
    store_lanes(apply_lanes(formula, in.lanes(at)...), out + at);
  if (at < end) store_some(apply_lanes(formula, in.some(at, end - at)...), out + at, end - at);
}

// For FLOAT, a streamed row is computed line by line, so that all inputs are read sequentially.
template <bool kStreams, class Formula, class T, class... In>
SOFTNPU_INLINE void lanes_row(const Formula formula, const Row& row, T* out, const In... in) {
  constexpr int64_t kUnit = kStreams && sizeof(T) == sizeof(float) ? 64 / sizeof(T) : kBlock;
  // Starts at a cache line of the output: streaming stores require it, and inputs are usually
  // aligned alike, so that their loads do not cross lines. Short rows gain nothing.
  const int64_t n = row.n;
  int64_t at = 0;
  if (kStreams || n >= kTileElements) {
    at = least(elements_before_line(out), n);
    row_part(formula, 0, at, out, in...);
  }
  for (; at + kUnit <= n; at += kUnit) {
    if constexpr (kStreams) {
      alignas(64) T lines[kUnit];
      apply_block(formula, lines,
                  [&](const auto& f, int64_t i) SOFTNPU_INLINED { return f(in.lanes(at, i)...); });
      stream_lines(out + at, lines);
    } else {
      apply_block(formula, reinterpret_cast<T(&)[kBlock]>(out[at]),
                  [&](const auto& f, int64_t i) SOFTNPU_INLINED { return f(in.lanes(at, i)...); });
    }
  }
  row_part(formula, at, n, out, in...);
}
#endif

template <class Formula, int kInputs, class T, bool kStreams>
void row_loop(const void* formula, const Row& row) {
  const auto& f = *static_cast<const Formula*>(formula);
  auto* const out = static_cast<T*>(row.out);
  [&]<int... k>(std::integer_sequence<int, k...>) SOFTNPU_INLINED {
#ifdef SOFTNPU_LANES
    if constexpr (kHasLanes<T> && takes_lanes<Formula, kInputs>())
      return lanes_row<kStreams>(f, row, out, RowInput<T>(row, k)...);
#endif
    return plain_row<kStreams>(f, row, out, RowInput<T>(row, k)...);
  }(std::make_integer_sequence<int, kInputs>{});
}

template <class Formula, int kInputs>
constexpr RowLoops kFloatLoops{
    .inputs = kInputs,
    .f32 = {row_loop<Formula, kInputs, float, false>, row_loop<Formula, kInputs, float, true>},
    .f16 = {row_loop<Formula, kInputs, f16, false>, row_loop<Formula, kInputs, f16, true>},
    .bf16 = {row_loop<Formula, kInputs, bf16, false>, row_loop<Formula, kInputs, bf16, true>},
    .i8 = {},
    .i32 = {}};

// Computes tiles [begin, end) of an elementwise operator (kernels/elementwise.cpp).
void walk_rows(const loops::ElementwiseLayout& l, std::byte* const* origins, const RowLoops& loops,
               const void* formula, int64_t begin, int64_t end);

// The same for a formula of `kInputs` floats.
template <int kInputs, class Formula>
void walk(const loops::ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
          int64_t begin, int64_t end) {
  walk_rows(l, origins, kFloatLoops<Formula, kInputs>, &formula, begin, end);
}

SOFTNPU_LEVEL_END
