// SPDX-License-Identifier: Apache-2.0
// Sums over boxes of gradOut, for a vector of adjacent elements at a time.
#pragma once

#include "kernels/upsample_nearest3d_backward.h"
#include "loops/running_sum.h"

SOFTNPU_LEVEL_BEGIN

struct Box {
  int64_t nz, sz, ny, sy, ahead = 0, nx = 1, sx = 0;
};

// Finished sums are stored as float (DOUBLE: as double), unfinished ones in a SumRow.
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

// Like put(), but adds to the sums that are there.
template <bool kCompensated>
struct AddedTo {
  SumRow<kCompensated> sums;
};
template <class V, class T>
SOFTNPU_INLINE void put(const AddedTo<kIsCompensated<T>>& out, int64_t i,
                        const RunningSum<V, kIsCompensated<T>>& sum) {
  auto all = out.sums.template at<V>(i);
  all.add(sum);
  out.sums.put(i, all);
}

// sum(0) + sum(1) + …: kN terms, or n terms if kN is 0.
template <int kN, class Sum>
SOFTNPU_INLINE auto sum_along(int64_t n, const Sum& sum) {
  auto all = sum(0);
  for (int64_t i = 1; i < (kN > 0 ? kN : n); ++i) all.add(sum(i));
  return all;
}

// Sums kCount vectors of boxes from from[i] on. Each sum adds along D, then H, then W. Boxes with
// few planes and rows are unrolled.
template <int kZ, int kY, int kX, class V, int kCount, class T, class Out>
SOFTNPU_INLINE void sum_vectors(const T* from, Box box, int64_t i, Out out) {
  for (int k = 0; k < kCount; ++k, i += kLanesOf<V>) {
    const auto total = sum_along<kX>(box.nx, [&](int64_t x) SOFTNPU_INLINED {
      return sum_along<kY>(box.ny, [&](int64_t y) SOFTNPU_INLINED {
        const T* const column = from + x * box.sx + y * box.sy + i;
        return sum_along<kZ>(box.nz, [&](int64_t z) SOFTNPU_INLINED {
          const T* const at = column + z * box.sz;
          __builtin_prefetch(at + box.ahead);
          return RunningSum<V, kIsCompensated<T>>{load_wide<V>(at)};
        });
      });
    });
    put<V, T>(out, i, total);
  }
}

// Sums n boxes that begin at adjacent elements.
template <int kZ, int kY, int kX, class T, class Out>
SOFTNPU_INLINE void sum_boxes(const T* from, Box box, int64_t n, Out out) {
  // The last vector may repeat elements, which is wrong only if sums are added to existing ones.
  constexpr bool kAgain = !std::is_same_v<Out, AddedTo<kIsCompensated<T>>>;
  int64_t i = 0;
  for (; i + 2 * kWideLanes <= n; i += 2 * kWideLanes)
    sum_vectors<kZ, kY, kX, Wide, 2>(from, box, i, out);
  if (kAgain && n >= kWideLanes) {
    for (; i < n; i += kWideLanes)
      sum_vectors<kZ, kY, kX, Wide, 1>(from, box, least(i, n - kWideLanes), out);
    return;
  }
  for (; i < n; ++i) sum_vectors<kZ, kY, kX, double, 1>(from, box, i, out);
}

// Calls body with the number of planes and of rows in a box as constants, or 0 if it is larger
// than 2.
template <class Body>
SOFTNPU_INLINE void with_few(const Box& box, const Body& body) {
  const auto with_rows = [&]<int kZ>() SOFTNPU_INLINED {
    if (box.ny == 1) return body.template operator()<kZ, 1>();
    if (box.ny == 2) return body.template operator()<kZ, 2>();
    body.template operator()<kZ, 0>();
  };
  if (box.nz == 1) return with_rows.template operator()<1>();
  if (box.nz == 2) return with_rows.template operator()<2>();
  body.template operator()<0, 0>();
}

// Sums n adjacent large boxes. Rows are processed one after the other, because reading from many
// places at once is far slower.
template <class T>
void sum_large_columns(const T* from, Box box, int64_t n, const SumRow<kIsCompensated<T>>& sums) {
  const int64_t rows = box.ny;
  box.ny = 1;
  box.ahead = box.sy;
  sum_boxes<0, 1, 1>(from, box, n, sums);
  for (int64_t y = 1; y < rows; ++y)
    sum_boxes<0, 1, 1>(from + y * box.sy, box, n, AddedTo<kIsCompensated<T>>{sums});
}

// Sums boxes of one element along W: `rows` rows of n boxes each. The boxes of a row follow those
// of the row before along H; their sums are contiguous.
template <class T>
void sum_columns(const T* from, const Box& box, int64_t n, int64_t rows,
                 const SumRow<kIsCompensated<T>>& sums) {
  if (box.ny * box.nz >= kMostStreams) {
    for (int64_t row = 0; row < rows; ++row)
      sum_large_columns(from + row * box.ny * box.sy, box, n, sums.from(row * n));
    return;
  }
  with_few(box, [&]<int kZ, int kY>() SOFTNPU_INLINED {
    for (int64_t row = 0; row < rows; ++row)
      sum_boxes<kZ, kY, 1>(from + row * box.ny * box.sy, box, n, sums.from(row * n));
  });
}

SOFTNPU_LEVEL_END
