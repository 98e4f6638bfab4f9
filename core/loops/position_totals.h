// SPDX-License-Identifier: Apache-2.0
// Positions of the upsample gradient with their channels beside each other: boxes of up to two
// rows, planes and columns are added up and rounded to elements, without leaving the registers. The
// sums have the order of sums.h.
#pragma once

#include "loops/boxes.h"
#include "loops/convert.h"
#include "loops/positions_ahead.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// Fewer elements than these are not worth a vector of float32 that is not full.
constexpr int64_t kFewestExact = kLanes > 2 * kQuad ? kQuad : 6;

// What one position of gradInput has of gradOut: kLength positions `sx` apart, one or two.
template <int kLength, int kY, int kZ, class T>
struct Range {
  static constexpr int64_t kPositions = kLength, kRows = kY * kZ;
  static constexpr int64_t kLine = Boxes<kY, kZ, T>::kLine;

  Boxes<kY, kZ, T> boxes;
  int64_t sx;

  // The totals of as many channels as V has, from channel v on.
  template <class V>
  SOFTNPU_INLINE V total(int64_t v) const {
    auto sum = boxes.at(v).template sum_as<V>(0);
    if constexpr (kLength == 2) sum.add(boxes.at(v + sx).template sum_as<V>(0));
    return sum.total();
  }
  // Those of `count` channels, kLanes at most.
  SOFTNPU_INLINE ExactSum exact_sum(int64_t v, int64_t count) const {
    ExactSum sum = boxes.at(v).exact_sum(0, count);
    if constexpr (kLength == 2) sum.add(boxes.at(v + sx).exact_sum(0, count));
    return sum;
  }
};

// The totals of the first `count` channels, 4 or more. A function of its own, because few are made
// that way: with it in the loops over positions these take 1.2 times as long.
template <int kLength, int kY, int kZ, class T>
__attribute__((noinline, cold)) void total_range_quads(const T* first, int64_t sy, int64_t sz,
                                                       int64_t sx, int64_t count, T* out) {
  const Range<kLength, kY, kZ, T> range{{first, sy, sz}, sx};
  for_steps<kQuad>(0, count, [&](int64_t v) SOFTNPU_INLINED {
    store_quad(range.template total<Quad>(v), out + v);
  });
}

// The totals of nv channels that are summed exactly in float32. Calls before_step<n>(v) for n of
// them from channel v on.
template <int kLength, int kY, int kZ, class T, class BeforeStep>
SOFTNPU_INLINE void total_range_exactly(const Range<kLength, kY, kZ, T>& range, int64_t nv,
                                        const BeforeStep& before_step, T* out) {
  const auto total_some = [&](int64_t v, int64_t count) SOFTNPU_INLINED {
    before_step.template operator()<kLanes>(v);
    const ExactSum total = range.exact_sum(v, count);
    if (!total.template rounds_to_same<T>()) [[unlikely]]
      return false;
    count == kLanes ? store_lanes(total.value, out + v) : store_some(total.value, out + v, count);
    return true;
  };
  const auto total_quads = [&](int64_t v, int64_t count) SOFTNPU_INLINED {
    const Boxes<kY, kZ, T> boxes = range.boxes.from(v);
    total_range_quads<kLength, kY, kZ>(boxes.first, boxes.sy, boxes.sz, range.sx, count, out + v);
  };
  if (nv < kLanes) {
    if (!total_some(0, nv)) [[unlikely]]
      total_quads(0, nv);
    return;
  }
  for (int64_t v = 0; v < nv; v += kLanes) {
    // Without a call inside, behind which gcc would make constants anew in every step.
    while (v + kLanes <= nv && total_some(v, kLanes)) v += kLanes;
    if (v == nv) return;
    if (v + kLanes > nv) {
      v = nv - kLanes;
      if (total_some(v, kLanes)) return;
    }
    total_quads(v, kLanes);
  }
}

// The same in float64 for all types.
template <bool kEights, int kLength, int kY, int kZ, class T, class BeforeStep>
SOFTNPU_INLINE void total_range_in_doubles(const Range<kLength, kY, kZ, T>& range, int64_t nv,
                                           const BeforeStep& before_step, T* out) {
  const auto total_at = [&]<class V>(int64_t v, V)
                            SOFTNPU_INLINED { store_as(range.template total<V>(v), out + v); };
#ifdef SOFTNPU_OCTETS
  // 0.6 to 1 of the time of four at a time. Of 16-bit elements only fewer than that come here.
  if constexpr (kEights && sizeof(T) > 2)
    if (nv >= kOctet) {
      int64_t v = 0;
      for (; v + kOctet <= nv; v += kOctet) {
        before_step.template operator()<kOctet>(v);
        total_at(v, Octet{});
      }
      if (nv - v > kQuad) return total_at(nv - kOctet, Octet{});
      if (nv > v) total_at(nv - kQuad, Quad{});
      return;
    }
#endif
  for_steps<kQuad>(0, nv, [&](int64_t v) SOFTNPU_INLINED {
    before_step.template operator()<kQuad>(v);
    total_at(v, Quad{});
  });
}

template <bool kEights, int kLength, int kY, int kZ, class T, class BeforeStep>
SOFTNPU_INLINE void total_range(const Range<kLength, kY, kZ, T>& range, int64_t nv,
                                const BeforeStep& before_step, T* out) {
  if constexpr (kSumsExactly<T, kLength * kY * kZ>)
    if (nv >= kFewestExact) return total_range_exactly(range, nv, before_step, out);
  total_range_in_doubles<kEights>(range, nv, before_step, out);
}

// The totals of nv channels of a range, and what comes later.
template <bool kEights = true, int kLength, int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_position(const Range<kLength, kY, kZ, T>& range, int64_t nv,
                                   const Later& later, T* out) {
  later.all(range, nv);
  const auto before_step = [&]<int64_t kStep>(int64_t v)
                               SOFTNPU_INLINED { later.template step<kStep>(range, nv, v); };
  total_range<kEights>(range, nv, before_step, out);
}

// total_positions(). A function of its own, and one that prefetches nothing: with what it is called
// from, or prefetching, it does not keep its pointers in registers, and takes 1.2 times as long.
// What comes later is passed by value: behind a reference it is read again in every step, 1.1 times
// the time.
template <int kY, int kZ, class T, class Later>
__attribute__((noinline)) void total_all_positions(const T* first, int64_t sy, int64_t sz,
                                                   int64_t sx, const int64_t* start, int64_t n,
                                                   int64_t nv, const Later later, T* out) {
  for (int64_t w = 0; w < n; ++w, out += nv) {
    const int64_t length = start[w + 1] - start[w], x = start[w] * sx;
    const Boxes<kY, kZ, T> boxes{first + x, sy, sz};
    if (length == 0)
      fill_short(nv, out);
    else if (length == 1)
      total_position(Range<1, kY, kZ, T>{boxes, sx}, nv, later.from(x), out);
    else
      total_position(Range<2, kY, kZ, T>{boxes, sx}, nv, later.from(x), out);
  }
}

// The same where every range has two positions, from `in` on, and nothing is prefetched: with
// AVX-512 FLOAT and DOUBLE 0.83 to 0.9 of the time, with AVX2 0.9 to 1.
template <int kY, int kZ, class T>
__attribute__((noinline)) void total_pairs(const T* in, int64_t sy, int64_t sz, int64_t sx,
                                           int64_t n, int64_t nv, T* out) {
  for (T* const end = out + n * nv; out != end; out += nv, in += 2 * sx)
    total_range<true>(Range<2, kY, kZ, T>{{in, sy, sz}, sx}, nv, []<int64_t>(int64_t) {}, out);
}

template <int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_each_position(const Boxes<kY, kZ, T>& row, int64_t sx,
                                        const int64_t* start, int64_t n, int64_t nv,
                                        const Later& later, T* out) {
  total_all_positions<kY, kZ>(row.first, row.sy, row.sz, sx, start, n, nv, later, out);
}

// Whether nv channels of a position have so many lines that these wait for each other when they are
// prefetched at once: a scale of 2 with 48 channels of DOUBLE took 1.2 to 1.5 times as long.
template <int kY, int kZ, class T>
SOFTNPU_INLINE bool has_many_lines(int64_t nv) {
  return 2 * kY * kZ * nv > 24 * Boxes<kY, kZ, T>::kLine;
}

// out[w, v] = the total of positions [start[w], start[w + 1]), two at most, for n of these and nv
// channels, 4 or more. Positions are `sx` apart.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_positions(const Boxes<kY, kZ, T>& row, int64_t sx, const int64_t* start,
                                    int64_t n, int64_t nv, Ahead ahead, T* out) {
  const auto total = [&](const auto& later) SOFTNPU_INLINED {
    total_each_position(row, sx, start, n, nv, later, out);
  };
  if (!ahead.any() && start[n] - start[0] == 2 * n)
    total_pairs<kY, kZ>(row.first + start[0] * sx, row.sy, row.sz, sx, n, nv, out);
  else if (!ahead.any())
    total(NoPositionsAhead{});
  else if (has_many_lines<kY, kZ, T>(nv))
    total(PositionsInPieces(ahead));
  else
    total(PositionsAtOnce(ahead));
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
SOFTNPU_INLINE void total_row(const Boxes<kY, kZ, T>& row, int64_t n, T* out) {
  total_position(Range<1, kY, kZ, T>{row, n}, n, NoPositionsAhead{}, out);
}
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_row_ahead(const Boxes<kY, kZ, T>& row, int64_t n, Ahead ahead, T* out) {
  constexpr bool kEights = !kIsCompensated<T>;  // rows of DOUBLE from memory take 1.1 times as long
  const Range<1, kY, kZ, T> range{row, n};
  has_many_lines<kY, kZ, T>(n) ? total_position<kEights>(range, n, PositionsInPieces(ahead), out)
                               : total_position<kEights>(range, n, PositionsAtOnce(ahead), out);
}
template <int kY, int kZ, class T>
__attribute__((noinline)) void total_one_row(const T* first, int64_t sy, int64_t sz, int64_t n,
                                             T* out) {
  total_row(Boxes<kY, kZ, T>{first, sy, sz}, n, out);
}
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_row(const Boxes<kY, kZ, T>& row, int64_t n, Ahead ahead, T* out) {
  ahead.any() ? total_row_ahead(row, n, ahead, out)
              : total_one_row<kY, kZ>(row.first, row.sy, row.sz, n, out);
}

// The same for rows that follow each other.
template <class T>
__attribute__((noinline)) void total_single_rows(const BoxRows<T>& rows, int64_t n, T* out) {
  const auto total = [&](int64_t r, auto boxes)
                         SOFTNPU_INLINED { total_row(boxes, n, out + r * n); };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}
template <class T>
__attribute__((noinline)) void total_single_rows(const BoxRows<T>& rows, int64_t n, Ahead ahead,
                                                 T* out) {
  const auto total = [&](int64_t r, auto boxes)
                         SOFTNPU_INLINED { total_row_ahead(boxes, n, ahead, out + r * n); };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}

// The same for rows h … h + count of all of the planes, while what lies `ahead` elements behind
// those is prefetched in the order of memory.
template <int kY, int kZ, class T>
__attribute__((noinline)) void total_single_rows_in_order(const Boxes<kY, kZ, T>& first, int64_t n,
                                                          int64_t h, int64_t count, int64_t ahead,
                                                          T* out) {
  PositionsInOrder<T> all;
  all.rows = kY * kZ;
  all.in_plane = kY * kZ * n;
  first.for_rows_in_order(h, count, ahead,
                          [&](int64_t row, const auto& boxes, const T* later) SOFTNPU_INLINED {
                            all.first = later;
                            total_position(Range<1, kY, kZ, T>{boxes, n}, n, all, out + row * n);
                          });
}

SOFTNPU_LEVEL_END
#endif
