// SPDX-License-Identifier: Apache-2.0
// Whole rows of the upsample gradient for the usual scales: boxes are summed, their columns too,
// and totals are rounded to elements, without leaving the registers. The sums have the order of
// sums.h.
#pragma once

#include "loops/boxes.h"
#include "loops/convert.h"
#include "loops/doubled_totals.h"
#include "loops/picked_totals.h"
#include "loops/spread_totals.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// Calls at(i, count) for vectors of float32 that cover [0, n): whole ones, or one of n elements.
template <class At>
SOFTNPU_INLINE void for_lanes(int64_t n, const At& at) {
  if (n < kLanes) return at(int64_t{0}, n);
  for_steps<kLanes>(0, n, [&](int64_t i) SOFTNPU_INLINED { at(i, kLanes); });
}

#ifdef SOFTNPU_PICKS_QUADS
// One row of n totals of groups of up to two: 2 times as fast for rows of 11 as through memory.
template <int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_short_groups(const Boxes<kY, kZ, T> boxes,
                                       const loops::FourGroups* groups, int64_t n,
                                       const Later& later, T* out) {
  for (int64_t i = 0; i < n; i += kQuad, ++groups) {
    const int64_t x = groups->base, at = i + kQuad <= n ? i : n - kQuad;
    later.some(x, loops::FourGroups::kSums);
    if constexpr (kIsCompensated<T>) {
      const QuadSum<T> a = boxes.sum(x), b = boxes.sum(x + kQuad);
      QuadSum<T> sum{pick_first({a.value, b.value}, *groups),
                     pick_first({a.lost, b.lost}, *groups)};
      sum.add({pick_second({a.value, b.value}, *groups, -0.0),
               pick_second({a.lost, b.lost}, *groups, 0.0)});
      store_quad(sum.total(), out + at);
    } else {
      store_quad(one_nan(add_picked(boxes.sum_two(x), *groups)), out + at);
    }
  }
}

// Eight groups of up to two, in float64.
template <int kY, int kZ, class T>
void total_eight_groups(const Boxes<kY, kZ, T> boxes, const loops::EightGroups& groups, T* out) {
  double sums[loops::EightGroups::kSums];
  sum_boxes(Boxes<kY, kZ, T>{boxes.first + groups.base, boxes.sy, boxes.sz},
            loops::EightGroups::kSums, {sums, nullptr});
  for (int i = 0; i < loops::EightGroups::kGroups; ++i) {
    double total = groups.has_first >> i & 1 ? sums[groups.first[i]] : 0;
    if (groups.has_second >> i & 1) total += sums[groups.second[i]];
    narrow(static_cast<float>(one_nan(total)), out[i]);
  }
}

// total_short_groups() for 16-bit elements.
template <int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_short_groups(const Boxes<kY, kZ, T> boxes,
                                       const loops::EightGroups* groups, int64_t n,
                                       const Later& later, T* out) {
  constexpr int64_t kGroups = loops::EightGroups::kGroups;
  for (int64_t i = 0; i < n; i += kGroups, ++groups) {
    const int64_t at = i + kGroups <= n ? i : n - kGroups;
    later.some(groups->base, kLanes);
    ExactSum sum = boxes.exact_sum(groups->base, kLanes);
    sum.add_picked(*groups);
    if (sum.rounds_to_same<T>()) [[likely]]
      store_half(sum.value, out + at);
    else
      total_eight_groups(boxes, *groups, out + at);
  }
}

// Rows of n totals each, from a plan of their groups. What lies `ahead` of each group is
// prefetched; where that is 0, all of the next rows with each.
template <int kCache, class T, class Groups>
__attribute__((noinline)) void total_picked_rows(const BoxRows<T>& rows, const BoxRows<T>& next,
                                                 int64_t ahead, const Groups* groups, int64_t n,
                                                 int64_t span, T* out) {
  const auto total = [&](int64_t r, auto boxes) SOFTNPU_INLINED {
    if (kCache != kNoCache && ahead != 0) {
      const BoxesAhead<kCache, decltype(boxes)> later{boxes, ahead};
      return total_short_groups(boxes, groups, n, later, out + r * n);
    }
    BoxesOfNextRows<kCache, T>{next, r, rows.count}.all(span);
    total_short_groups(boxes, groups, n, NothingAhead{}, out + r * n);
  };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}
#endif

// One row where every second range is empty, of `span` sums, 4 or more, and as many zeros.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_halved(const Boxes<kY, kZ, T> boxes, int64_t span, T* out) {
  const auto total_at = [&](int64_t x)
                            SOFTNPU_INLINED { store_apart(boxes.sum(x).total(), out + 2 * x); };
  if constexpr (!kSumsExactly<T, 2>)
    for_steps<kQuad>(0, span, total_at);
  else
    for_lanes(span, [&](int64_t x, int64_t count) SOFTNPU_INLINED {
      const ExactSum sum = boxes.exact_sum(x, count);
      if (sum.rounds_to_same<T>()) [[likely]]
        store_apart(sum.value, out + 2 * x, count);
      else
        for_steps<kQuad>(x, x + count, total_at);
    });
}

// Rows of n totals each, `span` of them not of empty ranges.
template <int kCache, class T>
__attribute__((noinline)) void total_halved_rows(const BoxRows<T>& rows, const BoxRows<T>& next,
                                                 int64_t n, int64_t span, T* out) {
  const auto total = [&](int64_t r, auto boxes) SOFTNPU_INLINED {
    BoxesOfNextRows<kCache, T>{next, r, rows.count}.all(span);
    total_halved(boxes, span, out + r * n);
    fill_short(n - 2 * span, out + r * n + 2 * span);
  };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}

// Fewer elements than these are not worth a vector of float32 that is not full.
constexpr int64_t kFewestExact = kLanes > 2 * kQuad ? kQuad : 6;

// total_positions(), which prefetches what lies ahead of a position in pieces or all at once.
template <bool kPieces, int kY, int kZ, class T>
SOFTNPU_INLINE void total_each_position(const Boxes<kY, kZ, T> row, int64_t sx,
                                        const int64_t* start, int64_t n, int64_t nv, Ahead ahead,
                                        T* out) {
  for (int64_t w = 0; w < n; ++w, out += nv) {
    const int64_t length = start[w + 1] - start[w];
    const Boxes<kY, kZ, T> boxes = row.from(start[w] * sx);
    if constexpr (!kPieces) {
      if (sx <= 2 * nv) [[likely]]
        boxes.prefetch_columns(ahead, length * sx);
      else  // without what is between the positions
        for (int64_t x = 0; x < length; ++x) boxes.from(x * sx).prefetch_columns(ahead, nv);
    }
    const auto prefetch_piece = [&]<int64_t kStep>(int64_t v) SOFTNPU_INLINED {
      constexpr int64_t kPiece = Boxes<kY, kZ, T>::kLine * 8 / (kY * kZ);
      if (!kPieces || v % kPiece != 0) return;
      // With what is left where no step begins.
      const int64_t count = nv - v < kPiece + kStep ? nv - v : kPiece;
      for (int64_t x = 0; x < length; ++x) boxes.from(v + x * sx).prefetch_columns(ahead, count);
    };
    const auto total_at = [&](int64_t v) SOFTNPU_INLINED {
      QuadSum<T> total = boxes.sum(v);
      if (length == 2) total.add(boxes.sum(v + sx));
      store_quad(total.total(), out + v);
    };
    if (length == 0) {
      fill_short(nv, out);
      continue;
    }
    if constexpr (kSumsExactly<T, kY * kZ>)
      if (nv >= kFewestExact && (length == 1 || kSumsExactly<T, 2 * kY * kZ>)) {
        for_lanes(nv, [&](int64_t v, int64_t count) SOFTNPU_INLINED {
          prefetch_piece.template operator()<kLanes>(v);
          ExactSum total = boxes.exact_sum(v, count);
          if (length == 2) total.add(boxes.exact_sum(v + sx, count));
          if (!total.rounds_to_same<T>()) [[unlikely]]
            for_steps<kQuad>(v, v + count, total_at);
          else
            count == kLanes ? store_lanes(total.value, out + v)
                            : store_some(total.value, out + v, count);
        });
        continue;
      }
    for_steps<kQuad>(0, nv, [&](int64_t v) SOFTNPU_INLINED {
      prefetch_piece.template operator()<kQuad>(v);
      total_at(v);
    });
  }
}

// out[w, v] = the total of positions [start[w], start[w + 1]), two at most, for n of these and nv
// channels, 4 or more. Positions are `sx` apart.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_positions(const Boxes<kY, kZ, T> row, int64_t sx, const int64_t* start,
                                    int64_t n, int64_t nv, Ahead ahead, T* out) {
  // Where more lines are prefetched at once they wait for each other: a scale of 2 with 48 channels
  // of DOUBLE took 1.2 to 1.5 times as long.
  constexpr int64_t kMostLines = 24;
  if (ahead.any() && 2 * kY * kZ * nv > kMostLines * row.kLine)
    total_each_position<true>(row, sx, start, n, nv, ahead, out);
  else
    total_each_position<false>(row, sx, start, n, nv, ahead, out);
}

// The same for three channels that are dense in both tensors, and three positions of `row` or more.
// Four elements at a time: the last one is the next position's first, made again with that.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_triples(const Boxes<kY, kZ, T> row, const int64_t* start, int64_t n,
                                  Ahead ahead, T* out) {
  constexpr int64_t kChannels = 3, kTogether = 16;
  const auto total_from = [&](int64_t w, int64_t x) SOFTNPU_INLINED {
    QuadSum<T> total = row.sum(x);
    if (start[w + 1] - start[w] == 2) total.add(row.sum(x + kChannels));
    return total.total();
  };
  for (int64_t w = 0; w < n; ++w, out += kChannels) {
    const int64_t x = start[w] * kChannels;
    if (ahead.any() && w % kTogether == 0)
      row.from(x).prefetch_columns(ahead, start[least(w + kTogether, n)] * kChannels - x);
    if (start[w + 1] < start[n]) [[likely]] {
      start[w] < start[w + 1] ? store_quad(total_from(w, x), out) : store_quad(Quad{}, out);
      continue;
    }
    // Nothing follows, in gradOut or in either: with the element before them.
    T all[kQuad] = {};
    if (start[w] < start[w + 1]) store_quad(total_from(w, x - 1), all);
    for (int64_t v = 0; v < kChannels; ++v) out[v] = all[v + 1];
  }
}

// A row of n totals, 4 or more, where every range of w is one element: as one position's channels.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_row(const Boxes<kY, kZ, T> row, int64_t n, Ahead ahead, T* out) {
  total_positions(row, n, kOneRange, 1, n, ahead, out);
}

// The same for rows that follow each other.
template <class T>
__attribute__((noinline)) void total_single_rows(const BoxRows<T>& rows, int64_t n, Ahead ahead,
                                                 T* out) {
  const auto total = [&](int64_t r, auto boxes)
                         SOFTNPU_INLINED { total_row(boxes, n, ahead, out + r * n); };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}

SOFTNPU_LEVEL_END
#endif
