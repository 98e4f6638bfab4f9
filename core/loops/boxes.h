// SPDX-License-Identifier: Apache-2.0
// Whole rows of the upsample gradient for the usual scales: boxes are summed, and their columns
// too, without leaving the registers. The sums have the order of sums.h.
#pragma once

#include "loops/sums.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// Boxes that are a row of gradInput wide: of kY rows `sy` apart in kZ planes `sz` apart.
template <int kY, int kZ, class T>
struct Boxes {
  const T* first;
  int64_t sy, sz;

  // The sums of columns x … x + 3, in the order of add_rows().
  SOFTNPU_INLINE Quad sum(int64_t x) const {
    Quad sum = load_quad(first + x);
    for (int y = 0; y < kY; ++y)
      for (int z = y == 0 ? 1 : 0; z < kZ; ++z) sum += load_quad(first + y * sy + z * sz + x);
    return sum;
  }
};

// add_rows() for n columns, 4 or more.
template <int kY, int kZ, class T>
void sum_boxes(const Boxes<kY, kZ, T> boxes, int64_t n, double* sums) {
  int64_t x = 0;
  for (; x + kQuad <= n; x += kQuad) store_quad(boxes.sum(x), sums + x);
  if (x < n) store_quad(boxes.sum(n - kQuad), sums + n - kQuad);
}

// add_rows() and total_groups<2>() at once, for `count` rows of n totals, 4 or more. Nothing leaves
// the registers: 1.6 times as fast for rows of 60.
template <int kY, int kZ, class T>
void total_doubled(Boxes<kY, kZ, T> boxes, int64_t n, int64_t count, int64_t ahead, float* out) {
  for (int64_t row = 0; row < count; ++row, boxes.first += kY * boxes.sy, out += n) {
    const auto total_at = [&](int64_t i) {
      const Quad pairs = add_pairs(boxes.sum(2 * i), boxes.sum(2 * i + kQuad));
      store_quad(one_nan(pairs), out + i);
    };
    if (ahead != 0)
      for (int z = 0; z < kZ; ++z)
        for (int64_t i = 0; i < kY * boxes.sy; i += 64 / sizeof(T))
          prefetch(boxes.first + z * boxes.sz + i, ahead);
    int64_t i = 0;
    for (; i + kQuad <= n; i += kQuad) total_at(i);
    if (i < n) total_at(n - kQuad);
  }
}

// One row where every second range is empty, of `span` sums, 4 or more, and as many zeros.
template <int kY, int kZ, class T>
void total_halved(const Boxes<kY, kZ, T> boxes, int64_t span, float* out) {
  int64_t x = 0;
  for (; x + kQuad <= span; x += kQuad) store_apart(one_nan(boxes.sum(x)), out + 2 * x);
  if (x < span) store_apart(one_nan(boxes.sum(span - kQuad)), out + 2 * (span - kQuad));
}

SOFTNPU_LEVEL_END
#endif
