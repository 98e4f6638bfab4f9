// SPDX-License-Identifier: Apache-2.0
// Sums over boxes of gradOut, for elements that are adjacent in memory, a vector of them at a time.
#pragma once

#include "loops/running_sum.h"

SOFTNPU_LEVEL_BEGIN

// How many elements a box has along each axis, and how far apart they are.
struct Box {
  int64_t nz, sz, ny, sy, nx = 1, sx = 0;

  bool is_empty() const { return nz == 0 || ny == 0 || nx == 0; }
};

// Finished sums go to a row of float (of double for DOUBLE), unfinished ones to a SumRow.
template <class T>
using Finished = std::conditional_t<kIsCompensated<T>, double, float>;

template <class V, class T>
SOFTNPU_INLINE void put(Finished<T>* out, int64_t i, const RunningSum<V, kIsCompensated<T>>& sum) {
  store_wide(sum.total(), out + i);
}
template <class V, class T>
SOFTNPU_INLINE void put(const SumRow<kIsCompensated<T>>& out, int64_t i,
                        const RunningSum<V, kIsCompensated<T>>& sum) {
  out.put(i, sum);
}

// The sums of kCount vectors of boxes that begin at from[i] and from there on. Every sum adds up
// along D, then H, then W.
template <class V, int kCount, class T, class Out>
SOFTNPU_INLINE void sum_vectors(const T* from, const Box& box, int64_t i, const Out& out) {
  using Sum = RunningSum<V, kIsCompensated<T>>;
  constexpr int kLanes = kLanesOf<V>;
  Sum box_sum[kCount], plane[kCount], column[kCount];
  const auto load = [&](int64_t x, int64_t y, int64_t z, int k) SOFTNPU_INLINED {
    return Sum{load_wide<V>(from + x * box.sx + y * box.sy + z * box.sz + i + k * kLanes)};
  };
  for (int64_t x = 0; x < box.nx; ++x) {
    for (int64_t y = 0; y < box.ny; ++y) {
      for (int k = 0; k < kCount; ++k) column[k] = load(x, y, 0, k);
      for (int64_t z = 1; z < box.nz; ++z)
        for (int k = 0; k < kCount; ++k) column[k].add(load(x, y, z, k));
      if (y == 0)
        for (int k = 0; k < kCount; ++k) plane[k] = column[k];
      else
        for (int k = 0; k < kCount; ++k) plane[k].add(column[k]);
    }
    if (x == 0)
      for (int k = 0; k < kCount; ++k) box_sum[k] = plane[k];
    else
      for (int k = 0; k < kCount; ++k) box_sum[k].add(plane[k]);
  }
  for (int k = 0; k < kCount; ++k) put<V, T>(out, i + k * kLanes, box_sum[k]);
}

// The sums of n boxes that begin at adjacent elements. No box is empty.
template <class T, class Out>
void sum_boxes(const T* from, const Box& box, int64_t n, const Out& out) {
  constexpr int kCount = kIsCompensated<T> ? 1 : 2;
  int64_t i = 0;
  for (; i + kCount * kWideLanes <= n; i += kCount * kWideLanes)
    sum_vectors<Wide, kCount>(from, box, i, out);
  if (i == n) return;
  if (n < kWideLanes) {
    for (; i < n; ++i) sum_vectors<double, 1>(from, box, i, out);
    return;
  }
  // The last vector may meet elements again: it finds the same sums.
  for (; i < n; i += kWideLanes) sum_vectors<Wide, 1>(from, box, least(i, n - kWideLanes), out);
}

SOFTNPU_LEVEL_END
