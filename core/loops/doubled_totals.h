// SPDX-License-Identifier: Apache-2.0
// Rows of the upsample gradient where w is doubled: sums of boxes and of neighbours at once.
#pragma once

#include <type_traits>

#include "loops/boxes_ahead.h"
#include "loops/convert.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// Four totals of neighbours, from column 2 * i on.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_doubled_quad(const Boxes<kY, kZ, T>& boxes, int64_t i, T* out) {
  const QuadSum<T> a = boxes.sum(2 * i), b = boxes.sum(2 * i + kQuad);
  QuadSum<T> pairs{mix_evens(a.value, b.value), mix_evens(a.lost, b.lost)};
  pairs.add({mix_odds(a.value, b.value), mix_odds(a.lost, b.lost)});
  store_quad(unmix(pairs.total()), out + i);
}

// The same for totals i … end. A function of its own, because few are made that way: with it in the
// loops over rows these take 1.1 times as long.
template <int kY, int kZ, class T>
__attribute__((noinline)) void total_doubled_quads(const T* first, int64_t sy, int64_t sz,
                                                   int64_t i, int64_t end, T* out) {
  const Boxes<kY, kZ, T> boxes{first, sy, sz};
  for_steps<kQuad>(i, end, [&](int64_t at) SOFTNPU_INLINED { total_doubled_quad(boxes, at, out); });
}

// A row of n totals, half a vector of float32 or more, of elements that are summed exactly there.
template <int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_doubled_exactly(const Boxes<kY, kZ, T>& boxes, int64_t n,
                                          const Later& later, T* out) {
  constexpr int64_t kHalf = kLanes / 2;
  if constexpr (!Later::kBitByBit) later.all(2 * n);
  const auto half_at = [&](int64_t i) SOFTNPU_INLINED {
    if constexpr (Later::kBitByBit) later.some(2 * i, kLanes);
    ExactSum sum = boxes.at(2 * i).exact_sum(0, kLanes);
    sum.add_neighbours();
    if (sum.rounds_to_same<T>()) [[likely]]
      store_evens(sum.value, out + i);
    else
      total_doubled_quads<kY, kZ>(boxes.first, boxes.sy, boxes.sz, i, i + kHalf, out);
  };
  int64_t i = 0;
#if defined(__AVX512F__)
  // Twice as many columns together: fewer shuffles, and one conversion of full width. What is left
  // overlaps: rows of 45 bfloat16 24 -> 20 ns, float16 23 -> 19.
  const auto whole_at = [&](int64_t at) SOFTNPU_INLINED {
    if constexpr (Later::kBitByBit) later.some(2 * at, 2 * kLanes);
    const ExactSum sum = boxes.at(2 * at).exact_pairs(0);
    if (sum.rounds_to_same<T>()) [[likely]]
      store_lanes(sum.value, out + at);
    else
      total_doubled_quads<kY, kZ>(boxes.first, boxes.sy, boxes.sz, at, at + kLanes, out);
  };
  for (; i + kLanes <= n; i += kLanes) whole_at(i);
  if (i > 0 && n - i > kHalf) return whole_at(n - kLanes);
#endif
  for_steps<kHalf>(i, n, half_at);
}

// add_rows() and total_groups<2>() at once, for a row of n totals, 4 or more. Nothing leaves the
// registers: 1.6 times as fast for rows of 60.
template <int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_doubled_row(const Boxes<kY, kZ, T>& boxes, int64_t n, const Later& later,
                                      T* out) {
  const auto total_at = [&](int64_t i) SOFTNPU_INLINED { total_doubled_quad(boxes, i, out); };
  if constexpr (kSumsExactly<T, 2 * kY * kZ>)
    if (n >= kLanes / 2) return total_doubled_exactly(boxes, n, later, out);
#ifdef SOFTNPU_OCTETS
  // 64K elements 1.1 times as fast with one thread, 1.05 to 1.1 with two; from memory 0.9 times.
  if constexpr (Later::kCache == kNoCache && std::is_same_v<T, float>)
    if (n >= kOctet) {
      for_steps<kOctet>(0, n, [&](int64_t i) SOFTNPU_INLINED {
        const auto a = boxes.at(2 * i).template sum_as<Octet>(0);
        const auto b = boxes.at(2 * i + kOctet).template sum_as<Octet>(0);
        store_octet(one_nan(add_neighbours(a.value, b.value)), out + i);
      });
      return;
    }
#endif
  // A line of each row at a time, or two: all of a long row's would wait for each other.
  constexpr int64_t kPiece = Later::kCache == kSecondCache ? boxes.kLine : boxes.kLine / 2;
  for_pieces_and_steps<kQuad, kPiece>(
      n, [&](int64_t i) SOFTNPU_INLINED { later.some(2 * i, 2 * kPiece); }, total_at);
}

// The same for `count` rows whose boxes follow each other.
template <int kCache, int kY, int kZ, class T>
__attribute__((noinline)) void total_doubled(const Boxes<kY, kZ, T>& first, int64_t n,
                                             int64_t count, int64_t ahead, T* out) {
  // Field by field: a copy as a whole waits for the stores of the caller.
  Boxes<kY, kZ, T> boxes{first.first, first.sy, first.sz};
  const BoxesAhead<kCache, Boxes<kY, kZ, T>> later{boxes, ahead};
  for (int64_t row = 0; row < count; ++row, boxes.first += kY * boxes.sy, out += n)
    total_doubled_row(boxes, n, later, out);
}

// The same for rows `row` … row + count of `rows` in all, while rows of the next planes, which
// begin at `next`, are prefetched: in turn one of their first half and one of their second. What is
// read of two pages at a time comes sooner than what is read of one.
template <int kY, int kZ, class T>
__attribute__((noinline)) void total_doubled_and_halves_ahead(const Boxes<kY, kZ, T>& first,
                                                              int64_t n, int64_t row, int64_t count,
                                                              int64_t rows, const T* next, T* out) {
  Boxes<kY, kZ, T> boxes{first.first, first.sy, first.sz};
  const int64_t step = kY * boxes.sy, half = (rows + 1) / 2;
  for (const int64_t end = row + count; row < end; ++row, boxes.first += step, out += n) {
    const int64_t ahead = row % 2 * half + row / 2;
    Boxes<kY, kZ, T>{next + ahead * step, boxes.sy, boxes.sz}.template prefetch_rows<kSecondCache>(
        0, 2 * n);
    total_doubled_row(boxes, n, NothingAhead{}, out);
  }
}

// The same for rows h … h + count of all of the planes, while what lies `ahead` elements behind
// those is prefetched in the order of memory.
template <int kY, int kZ, class T>
__attribute__((noinline)) void total_doubled_in_order(const Boxes<kY, kZ, T>& first, int64_t n,
                                                      int64_t h, int64_t count, int64_t ahead,
                                                      T* out) {
  first.for_rows_in_order(
      h, count, ahead, [&](int64_t row, const auto& boxes, const T* later) SOFTNPU_INLINED {
        total_doubled_row(boxes, n, MemoryAhead<kY * kZ, T>{later}, out + row * n);
      });
}

// The same for boxes of any rows.
template <int kCache, class T>
__attribute__((noinline)) void total_doubled_rows(const BoxRows<T>& rows, const BoxRows<T>& next,
                                                  int64_t n, T* out) {
  const auto total = [&](int64_t r, auto boxes) SOFTNPU_INLINED {
    total_doubled_row(boxes, n, BoxesOfNextRows<kCache, T>{next, r, rows.count}, out + r * n);
  };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}

SOFTNPU_LEVEL_END
#endif
