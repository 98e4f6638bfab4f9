// SPDX-License-Identifier: Apache-2.0
// What is prefetched while boxes of the upsample gradient are summed.
#pragma once

#include "loops/boxes.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// Each way has all(), for all of the first n columns, and some(), for n of them from x on; and says
// whether a row that is summed exactly calls some() bit by bit, not all(). Here nothing is
// prefetched,
struct NothingAhead {
  static constexpr int kCache = kNoCache;
  static constexpr bool kBitByBit = false;
  SOFTNPU_INLINE void all(int64_t /*n*/) const {}
  SOFTNPU_INLINE void some(int64_t /*x*/, int64_t /*n*/) const {}
};
// here those of boxes as large, `ahead` elements behind them.
template <int kTheCache, class SomeBoxes>
struct BoxesAhead {
  static constexpr int kCache = kTheCache;
  static constexpr bool kBitByBit = false;
  const SomeBoxes& boxes;
  int64_t ahead;

  SOFTNPU_INLINE void all(int64_t n) const {
    if constexpr (kCache != kNoCache) boxes.template prefetch_rows<kCache>(ahead, n);
  }
  SOFTNPU_INLINE void some(int64_t x, int64_t n) const {
    if constexpr (kCache != kNoCache) boxes.template prefetch_columns<kCache>(ahead + x, n);
  }
};

// Here those of the rows that come after rows whose boxes are no guide to theirs: with row r of
// `count` row r, with the last one all that are left. With a scale of 1.5, from memory, 0.75 to 0.9
// of the time that boxes at one distance take.
template <int kTheCache, class T>
struct BoxesOfNextRows {
  static constexpr int kCache = kTheCache;
  static constexpr bool kBitByBit = false;
  const BoxRows<T>& next;
  int64_t r, count;

  SOFTNPU_INLINE void all(int64_t n) const {
    if constexpr (kCache == kNoCache) return;
    if (next.in_order != 0) return prefetch_in_order();
    // With what is between the rows, if it is little.
    next.sy <= 2 * n ? prefetch_planes(0, rows_begin(), 1, (rows_end() - rows_begin()) * next.sy)
                     : some(0, n);
  }
  SOFTNPU_INLINE void some(int64_t x, int64_t n) const {
    if constexpr (kCache == kNoCache) return;
    if (next.in_order == 0)
      prefetch_planes(x, rows_begin(), rows_end() - rows_begin(), n);
    else if (x == 0)
      prefetch_in_order();
  }

 private:
  static constexpr int64_t kLine = 64 / sizeof(T);

  SOFTNPU_INLINE void prefetch_in_order() const {
    const T* const at = next.first + r * next.in_order;
    for (int64_t i = 0; i < next.in_order; i += kLine) prefetch<kCache>(at, i);
  }
  SOFTNPU_INLINE int64_t rows_begin() const { return next.start[least(r, next.count)]; }
  SOFTNPU_INLINE int64_t rows_end() const {
    return next.start[r + 1 < count ? least(r + 1, next.count) : next.count];
  }
  // n elements of `rows` rows in each plane.
  SOFTNPU_INLINE void prefetch_planes(int64_t x, int64_t begin, int64_t rows, int64_t n) const {
    for (int64_t z = 0; z < next.planes; ++z)
      for (int64_t y = begin; y < begin + rows; ++y)
        for (int64_t i = 0; i < n; i += kLine)
          prefetch<kCache>(next.first + z * next.sz + y * next.sy + x, i);
  }
};

// Here what is read later, in the order of memory, whichever boxes it is of: from `at` on as much
// as the boxes have in kRows rows. Bit by bit: with all of a row's at once nothing is gained.
template <int kRows, class T>
struct MemoryAhead {
  static constexpr int kCache = kFirstCache;
  static constexpr bool kBitByBit = true;
  const T* at;

  SOFTNPU_INLINE void some(int64_t x, int64_t n) const {
    constexpr int64_t kLine = 64 / sizeof(T);
    for (int64_t i = 0; i < kRows * n; i += kLine) prefetch<kCache>(at + kRows * x, i);
  }
};

SOFTNPU_LEVEL_END
#endif
