// SPDX-License-Identifier: Apache-2.0
// Boxes of the upsample gradient that are a row wide, summed over y and z in registers. The sums
// have the order of sums.h.
#pragma once

#include <type_traits>

#include "loops/exact_sum.h"
#include "loops/steps.h"
#include "loops/sums.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

template <class T>
using QuadSum = Sum<kIsCompensated<T>, Quad>;

// Boxes that are a row of gradInput wide: of kY rows `sy` apart in kZ planes `sz` apart.
template <int kY, int kZ, class T>
struct Boxes {
  static constexpr int64_t kLine = 64 / sizeof(T);

  const T* first;
  int64_t sy, sz;

  // Without what is before column x.
  SOFTNPU_INLINE Boxes from(int64_t x) const { return {first + x, sy, sz}; }
  // The same, behind a pointer that the compiler knows nothing of: it keeps one, where it would
  // keep one for each row and lose them to the stack. 0.8 to 0.95 of the time where a loop has few
  // steps; where it has many, no difference.
  SOFTNPU_INLINE Boxes at(int64_t x) const {
    const T* alone = first + x;
    asm("" : "+r"(alone));
    return {alone, sy, sz};
  }

  // The sums of columns x … x + 3, in the order of add_rows().
  SOFTNPU_INLINE QuadSum<T> sum(int64_t x) const { return sum_as<Quad>(x); }
  // The same for as many columns as V has.
  template <class V>
  SOFTNPU_INLINE Sum<kIsCompensated<T>, V> sum_as(int64_t x) const {
    Sum<kIsCompensated<T>, V> sum{load_as<V>(first + x), V{}};
    after_first([&](const T* row) SOFTNPU_INLINED { sum.add(load_as<V>(row + x)); });
    return sum;
  }
#ifdef SOFTNPU_PICKS_QUADS
  // The same for columns x … x + 7, row by row: 0.95 to 1 of the time of four and four.
  SOFTNPU_INLINE TwoQuads sum_two(int64_t x) const {
    TwoQuads sum{load_quad(first + x), load_quad(first + x + kQuad)};
    after_first([&](const T* row) SOFTNPU_INLINED {
      sum.low = fused_add(load_quad(row + x), sum.low);
      sum.high = fused_add(load_quad(row + x + kQuad), sum.high);
    });
    return sum;
  }
#endif
#ifdef SOFTNPU_OCTETS
  // The sums of the first `count` columns from x on, kOctet at most.
  SOFTNPU_INLINE Sum<kIsCompensated<T>, Octet> sum_some(int64_t x, int64_t count) const {
    if (count == kOctet) [[likely]]
      return sum_as<Octet>(x);
    Sum<kIsCompensated<T>, Octet> sum{load_some_octet(first + x, count), Octet{}};
    after_first([&](const T* row) SOFTNPU_INLINED { sum.add(load_some_octet(row + x, count)); });
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
  // Calls f(row) for all rows but the first, in their order. How far they are from it does not
  // depend on the column: one register each for a whole loop.
  template <class F>
  SOFTNPU_INLINE void after_first(const F& f) const {
    for (int y = 0; y < kY; ++y)
      for (int z = y == 0 ? 1 : 0; z < kZ; ++z) f(first + (y * sy + z * sz));
  }
  // Calls f(row, boxes, later) for `count` boxes that follow each other, from row h of gradInput
  // on, these being the first: `later` is the row's share of all of the planes, in the order of
  // memory, `ahead` elements behind it.
  template <class F>
  SOFTNPU_INLINE void for_rows_in_order(int64_t h, int64_t count, int64_t ahead, const F& f) const {
    const int64_t step = kY * sy;
    Boxes boxes{first, sy, sz};
    const T* later = first + (ahead + h * (kZ - 1) * step);
    for (int64_t row = 0; row < count; ++row, boxes.first += step, later += kZ * step)
      f(row, boxes, later);
  }
  // Prefetches what lies `ahead` elements behind these boxes' rows, of n columns, together with
  // the little that is between them.
  template <int kCache>
  SOFTNPU_INLINE void prefetch_rows(int64_t ahead, int64_t n) const {
    if (sy > 2 * n) [[unlikely]]
      return prefetch_columns<kCache>(ahead, n);
    for (int z = 0; z < kZ; ++z)
      for (int64_t i = 0; i < kY * sy; i += kLine) prefetch<kCache>(first + z * sz + i, ahead);
  }
  // The same for the first n columns, without what is between them.
  template <int kCache>
  SOFTNPU_INLINE void prefetch_columns(int64_t ahead, int64_t n) const {
    for (int z = 0; z < kZ; ++z)
      for (int y = 0; y < kY; ++y)
        for (int64_t i = 0; i < n; i += kLine) prefetch<kCache>(first + z * sz + y * sy + i, ahead);
  }
  // The same where the cache is only known while it runs.
  SOFTNPU_INLINE void prefetch_columns(Ahead ahead, int64_t n) const {
    ahead.with_cache([&]<int kCache>() SOFTNPU_INLINED {
      if constexpr (kCache != kNoCache) prefetch_columns<kCache>(ahead.distance, n);
    });
  }
#if defined(__AVX512F__)
  // The sums of columns x and x + 1, of x + 2 and x + 3, … for 2 · kLanes columns.
  SOFTNPU_INLINE ExactSum exact_pairs(int64_t x) const {
    if constexpr (std::is_same_v<T, bf16>) {
      // Words are the high halves of float32: what is even and what is odd needs no shuffle.
      const EvenOdd at_first = load_even_and_odd(first + x);
      ExactSum evens(at_first.even), odds(at_first.odd);
      after_first([&](const T* row) SOFTNPU_INLINED {
        const EvenOdd terms = load_even_and_odd(row + x);
        evens.add(terms.even);
        odds.add(terms.odd);
      });
      evens.add(odds);
      return evens;
    } else {
      return exact_sum(x, kLanes).neighbours(exact_sum(x + kLanes, kLanes));
    }
  }
#endif
};

// The boxes of rows that follow each other: of planes that begin at `first`, and of their rows
// start[r] to start[r + 1].
template <class T>
struct BoxRows {
  const T* first;
  int64_t sy, sz, planes;
  const int64_t* start;
  int64_t count;
  // Where they are not prefetched as they lie, but in the order of memory, from `first` on: how
  // much with each of the rows before them.
  int64_t in_order = 0;

  // Calls f(r, boxes) for them, or none(r) where they are empty: up to two planes, and up to two
  // rows each. One loop over all, in a function of its own, keeps what they share in registers.
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

// Where the ranges of a row begin that is as one position.
constexpr int64_t kOneRange[] = {0, 1};

// add_rows() for n columns, 4 or more. Like all that works on one row, it is part of its caller: a
// call, with the boxes on the stack, costs as much as a row of 10.
template <int kY, int kZ, class T>
SOFTNPU_INLINE void sum_boxes(const Boxes<kY, kZ, T> boxes, int64_t n,
                              Sums<kIsCompensated<T>> sums) {
  for_steps<kQuad>(0, n, [&](int64_t x) SOFTNPU_INLINED { sums.put(x, boxes.sum(x)); });
}

// The same in a function of its own, for long rows. 1.2 times as fast as boxes whose size is only
// known while it runs: loops of 3 or 4 steps end with a wrong guess each.
template <int kY, int kZ, class T>
void sum_long_boxes(const Boxes<kY, kZ, T>& boxes, int64_t n, Sums<kIsCompensated<T>> sums) {
  sum_boxes(Boxes<kY, kZ, T>{boxes.first, boxes.sy, boxes.sz}, n, sums);  // as in total_doubled()
}

// Calls f(at) for all rows of a box but the first, in the order of sums.h. `at` is how far from the
// first they are.
template <class F>
SOFTNPU_INLINE void for_other_rows(int64_t rows, int64_t sy, int64_t planes, int64_t sz,
                                   const F& f) {
  for (int64_t z = 1; z < planes; ++z) f(z * sz);
  for (int64_t y = 1; y < rows; ++y)
    for (int64_t z = 0; z < planes; ++z) f(y * sy + z * sz);
}

// The sums of kCount vectors of columns of a box of any size, in registers from the first row to
// the last.
template <class V, int kCount, class T>
SOFTNPU_INLINE void sum_columns(const T* first, int64_t rows, int64_t sy, int64_t planes,
                                int64_t sz, Ahead ahead, Sums<kIsCompensated<T>> sums) {
  constexpr int64_t kWidth = sizeof(V) / sizeof(double), kLine = 64 / sizeof(T);
  Sum<kIsCompensated<T>, V> sum[kCount] = {};
  const auto add = [&](const T* row) SOFTNPU_INLINED {
    for (int q = 0; q < kCount; ++q) sum[q].add(load_as<V>(row + q * kWidth));
    if (ahead.any())
      for (int64_t i = 0; i < kCount * kWidth; i += kLine) prefetch(row + i, ahead);
  };
  for (int q = 0; q < kCount; ++q) sum[q].value = load_as<V>(first + q * kWidth);
  for_other_rows(rows, sy, planes, sz, [&](int64_t at) SOFTNPU_INLINED { add(first + at); });
  for (int q = 0; q < kCount; ++q) sums.put(q * kWidth, sum[q]);
}

// sum_boxes() for boxes of any size, four vectors of columns at a time. 1.5 times as fast as
// add_rows() for boxes of 11 rows of 16. In vectors of eight x8 NCDHW DOUBLE takes 0.6 of the time
// of four on a Zen 5, FLOAT 0.8, smaller boxes 0.86 to 1.03.
template <class T>
void sum_large_boxes(const T* first, int64_t rows, int64_t sy, int64_t planes, int64_t sz,
                     int64_t n, Ahead ahead, Sums<kIsCompensated<T>> sums) {
  int64_t x = 0;
  const auto sum_at = [&]<class V, int kCount>(int64_t at) SOFTNPU_INLINED {
    sum_columns<V, kCount>(first + at, rows, sy, planes, sz, ahead, sums.from(at));
  };
#ifdef SOFTNPU_OCTETS
  for (; x + 4 * kOctet <= n; x += 4 * kOctet) sum_at.template operator()<Octet, 4>(x);
  for (; x + 2 * kOctet <= n; x += 2 * kOctet) sum_at.template operator()<Octet, 2>(x);
  for (; x + kOctet <= n; x += kOctet) sum_at.template operator()<Octet, 1>(x);
#endif
  for (; x + 4 * kQuad <= n; x += 4 * kQuad) sum_at.template operator()<Quad, 4>(x);
  for_steps<kQuad>(x, n,
                   [&](int64_t at) SOFTNPU_INLINED { sum_at.template operator()<Quad, 1>(at); });
}

SOFTNPU_LEVEL_END
#endif
