// SPDX-License-Identifier: Apache-2.0
// Whole rows of the upsample gradient for the usual scales: boxes are summed, and their columns
// too, and rounded to elements, without leaving the registers. The sums have the order of sums.h.
#pragma once

#include "loops/convert.h"
#include "loops/exact_sum.h"
#include "loops/sums.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// Whether rows of type T are added up that way.
template <class T>
constexpr bool kSumsExactly = sizeof(T) < sizeof(float);

// Boxes that are a row of gradInput wide: of kY rows `sy` apart in kZ planes `sz` apart.
template <int kY, int kZ, class T>
struct Boxes {
  static constexpr int64_t kLine = 64 / sizeof(T);

  const T* first;
  int64_t sy, sz;

  // The sums of columns x … x + 3, in the order of add_rows().
  SOFTNPU_INLINE Quad sum(int64_t x) const {
    Quad sum = load_quad(first + x);
    after_first([&](const T* row) SOFTNPU_INLINED { sum += load_quad(row + x); });
    return sum;
  }
#ifdef SOFTNPU_PICKS_QUADS
  // The same for columns x … x + 7.
  SOFTNPU_INLINE TwoQuads sum_two(int64_t x) const {
    TwoQuads sum = load_two_quads(first + x);
    after_first([&](const T* row) SOFTNPU_INLINED {
      const TwoQuads term = load_two_quads(row + x);
      sum.low += term.low;
      sum.high += term.high;
    });
    return sum;
  }
#endif
  // The same for `count` columns, kLanes at most.
  SOFTNPU_INLINE ExactSum exact_sum(int64_t x, int64_t count) const {
    const auto load = [&](const T* in) SOFTNPU_INLINED {
      return count == kLanes ? load_lanes(in) : load_some(in, count);
    };
    ExactSum sum(load(first + x));
    after_first([&](const T* row) SOFTNPU_INLINED { sum.add(load(row + x)); });
    return sum;
  }
  // Calls f(row) for all rows but the first, in their order.
  template <class F>
  SOFTNPU_INLINE void after_first(const F& f) const {
    for (int y = 0; y < kY; ++y)
      for (int z = y == 0 ? 1 : 0; z < kZ; ++z) f(first + y * sy + z * sz);
  }
  // Asks for what lies `ahead` elements behind these boxes' rows, which follow each other; 0 for
  // nothing.
  SOFTNPU_INLINE void read_ahead(int64_t ahead) const {
    if (ahead == 0) return;
    for (int z = 0; z < kZ; ++z)
      for (int64_t i = 0; i < kY * sy; i += kLine) prefetch(first + z * sz + i, ahead);
  }
  // The same for the first n columns of rows that do not.
  SOFTNPU_INLINE void read_ahead(int64_t ahead, int64_t n) const {
    if (ahead == 0) return;
    for (int z = 0; z < kZ; ++z)
      for (int y = 0; y < kY; ++y)
        for (int64_t i = 0; i < n; i += kLine) prefetch(first + z * sz + y * sy + i, ahead);
  }
};

// Calls at(i) for steps that cover [begin, end). The last one overlaps those before, or what is
// before `begin`, where they do not fit.
template <int64_t kStep, class At>
SOFTNPU_INLINE void for_steps(int64_t begin, int64_t end, const At& at) {
  for (; begin + kStep <= end; begin += kStep) at(begin);
  if (begin < end) at(end - kStep);
}

// fill_zero() where n is small: a call of memset() takes as long as a row of 16 totals.
template <class T>
SOFTNPU_INLINE void fill_short(int64_t n, T* out) {
  constexpr int64_t kPiece = 32 / sizeof(T);
  if (n < kPiece) return fill_zero(n, out);
  __m256i zero = _mm256_setzero_si256();
  asm("" : "+x"(zero));  // or gcc makes it a call of memset() again
  for_steps<kPiece>(
      0, n, [&](int64_t i) SOFTNPU_INLINED { _mm256_storeu_si256((__m256i*)(out + i), zero); });
}

// The boxes of rows that follow each other: of up to two planes, which begin at `first`, and of
// their rows start[r] to start[r + 1], up to two.
template <class T>
struct BoxRows {
  const T* first;
  int64_t sy, sz, planes;
  const int64_t* start;
  int64_t count;

  // Calls f(r, boxes) for them, or none(r) where they are empty. One loop over all rows, in a
  // function of its own, keeps what they share in registers.
  template <class F, class None>
  SOFTNPU_INLINE void for_each(const F& f, const None& none) const {
    planes == 2 ? for_planes<2>(f, none) : for_planes<1>(f, none);
  }

 private:
  template <int kZ, class F, class None>
  SOFTNPU_INLINE void for_planes(const F& f, const None& none) const {
    for (int64_t r = 0; r < count; ++r) {
      const int64_t rows = planes > 0 ? start[r + 1] - start[r] : 0;
      const T* const row = first + start[r] * sy;
      if (rows == 0)
        none(r);
      else if (rows == 1)
        f(r, Boxes<1, kZ, T>{row, sy, sz});
      else
        f(r, Boxes<2, kZ, T>{row, sy, sz});
    }
  }
};

// Calls at(i, count) for vectors of float32 that cover [0, n): whole ones, or one of n elements.
template <class At>
SOFTNPU_INLINE void for_lanes(int64_t n, const At& at) {
  if (n < kLanes) return at(int64_t{0}, n);
  for_steps<kLanes>(0, n, [&](int64_t i) SOFTNPU_INLINED { at(i, kLanes); });
}

// add_rows() for n columns, 4 or more. Like all that works on one row, it is part of its caller: a
// call, with the boxes on the stack, costs as much as a row of 10.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void sum_boxes(const Boxes<kY, kZ, T> boxes, int64_t n, double* sums) {
  for_steps<kQuad>(0, n, [&](int64_t x) SOFTNPU_INLINED { store_quad(boxes.sum(x), sums + x); });
}

// The same for boxes of any size: the sums of 16 columns stay in registers from the first row to
// the last. 1.5 times as fast as add_rows() for boxes of 11 rows of 16.
template <class T>
void sum_large_boxes(const T* first, int64_t rows, int64_t sy, int64_t planes, int64_t sz,
                     int64_t n, int64_t ahead, double* sums) {
  const auto sum_at = [&]<int kCount>(std::integral_constant<int, kCount>, int64_t x) {
    Quad sum[kCount] = {};
    const auto add = [&](const T* row) {
      for (int q = 0; q < kCount; ++q) sum[q] += load_quad(row + q * kQuad);
      if (ahead != 0) prefetch(row, ahead);
    };
    for (int q = 0; q < kCount; ++q) sum[q] = load_quad(first + x + q * kQuad);
    for (int64_t z = 1; z < planes; ++z) add(first + x + z * sz);
    for (int64_t y = 1; y < rows; ++y)
      for (int64_t z = 0; z < planes; ++z) add(first + x + y * sy + z * sz);
    for (int q = 0; q < kCount; ++q) store_quad(sum[q], sums + x + q * kQuad);
  };
  constexpr std::integral_constant<int, 4> kFour;
  constexpr std::integral_constant<int, 1> kOne;
  int64_t x = 0;
  for (; x + 4 * kQuad <= n; x += 4 * kQuad) sum_at(kFour, x);
  for_steps<kQuad>(x, n, [&](int64_t at) { sum_at(kOne, at); });
}

// add_rows() and total_groups<2>() at once, for `count` rows of n totals, 4 or more. Nothing leaves
// the registers: 1.6 times as fast for rows of 60.
template <int kY, int kZ, class T>
void total_doubled(Boxes<kY, kZ, T> boxes, int64_t n, int64_t count, int64_t ahead, T* out) {
  for (int64_t row = 0; row < count; ++row, boxes.first += kY * boxes.sy, out += n) {
    const auto total_at = [&](int64_t i) {
      const Quad pairs = add_pairs(boxes.sum(2 * i), boxes.sum(2 * i + kQuad));
      store_quad(one_nan(pairs), out + i);
    };
    boxes.read_ahead(ahead);
    constexpr int64_t kHalf = kLanes / 2;
    const auto total_exactly_at = [&](int64_t i) SOFTNPU_INLINED {
      ExactSum sum = boxes.exact_sum(2 * i, kLanes);
      sum.add_neighbours();
      if (sum.exact()) [[likely]]
        store_evens(sum.value, out + i);
      else
        for_steps<kQuad>(i, i + kHalf, total_at);
    };
    if constexpr (kSumsExactly<T>)
      if (n >= kHalf) {
        for_steps<kHalf>(0, n, total_exactly_at);
        continue;
      }
    for_steps<kQuad>(0, n, total_at);
  }
}

#ifdef SOFTNPU_PICKS_QUADS
// One row of n totals of groups of up to two: 2 times as fast for rows of 11 as through memory.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_short_groups(const Boxes<kY, kZ, T> boxes,
                                       const loops::FourGroups* groups, int64_t n, int64_t ahead,
                                       T* out) {
  boxes.read_ahead(ahead);
  for (int64_t i = 0; i < n; i += kQuad, ++groups) {
    const int64_t x = groups->base, at = i + kQuad <= n ? i : n - kQuad;
    store_quad(one_nan(add_picked(boxes.sum_two(x), *groups)), out + at);
  }
}

// Eight groups of up to two, in float64.
template <int kY, int kZ, class T>
void total_eight_groups(const Boxes<kY, kZ, T> boxes, const loops::EightGroups& groups, T* out) {
  double sums[loops::EightGroups::kSums];
  sum_boxes(Boxes<kY, kZ, T>{boxes.first + groups.base, boxes.sy, boxes.sz},
            loops::EightGroups::kSums, sums);
  for (int i = 0; i < loops::EightGroups::kGroups; ++i) {
    double total = groups.has_first >> i & 1 ? sums[groups.first[i]] : 0;
    if (groups.has_second >> i & 1) total += sums[groups.second[i]];
    narrow(static_cast<float>(one_nan(total)), out[i]);
  }
}

// total_short_groups() for 16-bit elements.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_short_groups(const Boxes<kY, kZ, T> boxes,
                                       const loops::EightGroups* groups, int64_t n, int64_t ahead,
                                       T* out) {
  constexpr int64_t kGroups = loops::EightGroups::kGroups;
  boxes.read_ahead(ahead);
  for (int64_t i = 0; i < n; i += kGroups, ++groups) {
    const int64_t at = i + kGroups <= n ? i : n - kGroups;
    ExactSum sum = boxes.exact_sum(groups->base, kLanes);
    sum.add_picked(*groups);
    if (sum.exact()) [[likely]]
      store_half(sum.value, out + at);
    else
      total_eight_groups(boxes, *groups, out + at);
  }
}

// Rows of n totals each, from a plan of their groups.
template <class T, class Groups>
void total_picked_rows(const BoxRows<T>& rows, const Groups* groups, int64_t n, int64_t ahead,
                       T* out) {
  const auto total = [&](int64_t r, auto boxes) SOFTNPU_INLINED {
    total_short_groups(boxes, groups, n, ahead, out + r * n);
  };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}
#endif

// One row where every second range is empty, of `span` sums, 4 or more, and as many zeros.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_halved(const Boxes<kY, kZ, T> boxes, int64_t span, T* out) {
  const auto total_at = [&](int64_t x)
                            SOFTNPU_INLINED { store_apart(one_nan(boxes.sum(x)), out + 2 * x); };
  if constexpr (!kSumsExactly<T>)
    for_steps<kQuad>(0, span, total_at);
  else
    for_lanes(span, [&](int64_t x, int64_t count) SOFTNPU_INLINED {
      const ExactSum sum = boxes.exact_sum(x, count);
      if (sum.exact()) [[likely]]
        store_apart(sum.value, out + 2 * x, count);
      else
        for_steps<kQuad>(x, x + count, total_at);
    });
}

// Rows of n totals each, `span` of them not of empty ranges.
template <class T>
void total_halved_rows(const BoxRows<T>& rows, int64_t n, int64_t span, T* out) {
  const auto total = [&](int64_t r, auto boxes) SOFTNPU_INLINED {
    total_halved(boxes, span, out + r * n);
    fill_short(n - 2 * span, out + r * n + 2 * span);
  };
  rows.for_each(total, [&](int64_t r) SOFTNPU_INLINED { fill_short(n, out + r * n); });
}

// out[w, v] = the total of positions [start[w], start[w + 1]), two at most, for n of these and nv
// channels, 4 or more. Positions are `sx` apart.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void total_positions(const Boxes<kY, kZ, T> row, int64_t sx, const int64_t* start,
                                    int64_t n, int64_t nv, int64_t ahead, T* out) {
  for (int64_t w = 0; w < n; ++w, out += nv) {
    const int64_t length = start[w + 1] - start[w];
    Boxes<kY, kZ, T> boxes = row;
    boxes.first += start[w] * sx;
    boxes.read_ahead(ahead, length * sx);
    const auto total_at = [&](int64_t v) SOFTNPU_INLINED {
      Quad total = boxes.sum(v);
      if (length == 2) total += boxes.sum(v + sx);
      store_quad(one_nan(total), out + v);
    };
    if (length == 0) {
      fill_short(nv, out);
    } else if constexpr (!kSumsExactly<T>) {
      for_steps<kQuad>(0, nv, total_at);
    } else {
      for_lanes(nv, [&](int64_t v, int64_t count) SOFTNPU_INLINED {
        ExactSum total = boxes.exact_sum(v, count);
        if (length == 2) total.add(boxes.exact_sum(v + sx, count));
        if (!total.exact()) [[unlikely]]
          for_steps<kQuad>(v, v + count, total_at);
        else
          count == kLanes ? store_lanes(total.value, out + v)
                          : store_some(total.value, out + v, count);
      });
    }
  }
}

SOFTNPU_LEVEL_END
#endif
