// SPDX-License-Identifier: Apache-2.0
// Whole rows of the upsample gradient for the usual scales: boxes are summed, their columns too,
// and totals are rounded to elements, without leaving the registers. The sums have the order of
// sums.h.
#pragma once

#include "loops/boxes_ahead.h"
#include "loops/convert.h"
#include "loops/doubled_totals.h"
#include "loops/picked_totals.h"
#include "loops/spread_totals.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

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

SOFTNPU_LEVEL_END
#endif
