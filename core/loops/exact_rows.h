// SPDX-License-Identifier: Apache-2.0
// Rows of the upsample gradient of 16-bit elements whose boxes have any number of rows and planes.
// Their columns are summed as exact_sum.h does it, a row of them at a time: a third of the time of
// sums in float64.
#pragma once

#include "loops/convert.h"
#include "loops/exact_sum.h"
#include "loops/picked_totals.h"

#ifdef SOFTNPU_OCTETS
#define SOFTNPU_EXACT_ROWS 1
SOFTNPU_LEVEL_BEGIN

// A box, and where the sums of its columns are or will be.
template <class T>
struct ExactRow {
  const T* first;
  int64_t rows, sy, planes, sz;
  float *value, *down;

  // The sums of columns from x on, as many as a vector has whatever `count` is.
  SOFTNPU_INLINE ExactSum exact_sum(int64_t x, int64_t /*count*/) const {
    return ExactSum(load_lanes(value + x), load_lanes(down + x));
  }
  // Sums n columns. There is room for a vector behind them.
  void make(int64_t n, Ahead ahead) const {
    sum_columns(n, ahead, [&](int64_t x, const ExactSum& sum, int64_t /*count*/) SOFTNPU_INLINED {
      store_lanes(sum.value, value + x);
      store_lanes(sum.down, down + x);
    });
  }

  // The same row by row, some at a time, which a core foresees where they are far apart.
  void make_by_rows(int64_t n, Ahead ahead) const {
    const T* batch[kBatch];
    int waiting = 0;
    bool begun = false;
    const auto add_waiting = [&] {
      with_count<kBatch>(waiting, [&]<int kRows>() {
        begun ? add_rows<kRows, false>(batch, n, ahead) : add_rows<kRows, true>(batch, n, ahead);
      });
      begun = true;
      waiting = 0;
    };
    const auto add = [&](int64_t at) {
      batch[waiting++] = first + at;
      if (waiting == kBatch) add_waiting();
    };
    add(0);
    for_other_rows(rows, sy, planes, sz, add);
    if (waiting > 0) add_waiting();
  }

  // Calls put(x, sum, count) for vectors that cover n columns, or for one of fewer.
  template <class Put>
  SOFTNPU_INLINE void sum_columns(int64_t n, Ahead ahead, const Put& put) const {
    if (n < kLanes) {
      ExactSum sum(load_some(first, n));
      for_other_rows(rows, sy, planes, sz,
                     [&](int64_t at) SOFTNPU_INLINED { sum.add(load_some(first + at, n)); });
      return put(int64_t{0}, sum, n);
    }
    constexpr int64_t kManyRows = 16;
    int64_t x = 0;
    for (; n - x > 5 * kLanes; x += 4 * kLanes) sum_vectors<4>(x, n, ahead, put);
    // Boxes of fewer rows take 1.07 of the time where few vectors are made side by side.
    if (n - x >= 4 * kLanes || rows * planes > kManyRows)
      return with_count<5>((n - x + kLanes - 1) / kLanes, [&]<int kCount>() SOFTNPU_INLINED {
        sum_vectors<kCount>(x, n - kLanes, ahead, put);
      });
    for (; x < n; x += kLanes) sum_vectors<1>(x, n - kLanes, ahead, put);
  }

 private:
  static constexpr int kBatch = 8;

  // Rows begun with, or added to the sums that there are.
  template <int kRows, bool kFirst>
  void add_rows(const T* const (&batch)[kBatch], int64_t n, Ahead ahead) const {
    constexpr int64_t kLine = 64 / sizeof(T);
    const auto add_at = [&](int64_t x, const auto& load) SOFTNPU_INLINED {
      ExactSum sum = kFirst ? ExactSum(load(batch[0] + x)) : exact_sum(x, kLanes);
      for (int r = kFirst ? 1 : 0; r < kRows; ++r) sum.add(load(batch[r] + x));
      store_lanes(sum.value, value + x);
      store_lanes(sum.down, down + x);
    };
    int64_t x = 0;
    for (; x + kLanes <= n; x += kLanes) {
      if (ahead.any() && x % kLine == 0)
        for (int r = 0; r < kRows; ++r) prefetch(batch[r] + x, ahead);
      add_at(x, [](const T* in) SOFTNPU_INLINED { return load_lanes(in); });
    }
    if (x < n) add_at(x, [&](const T* in) SOFTNPU_INLINED { return load_some(in, n - x); });
  }

  // Vectors from column x on, the last one no further than `last`. Side by side, because each sum
  // waits for the one before.
  template <int kCount, class Put>
  SOFTNPU_INLINE void sum_vectors(int64_t x, int64_t last, Ahead ahead, const Put& put) const {
    constexpr int64_t kLine = 64 / sizeof(T);
    const int64_t at_last = least(x + (kCount - 1) * kLanes, last);
    const auto column = [&](int q)
                            SOFTNPU_INLINED { return q + 1 < kCount ? x + q * kLanes : at_last; };
    ExactSum sum[kCount];
    for (int q = 0; q < kCount; ++q) sum[q] = ExactSum(load_lanes(first + column(q)));
    for_other_rows(rows, sy, planes, sz, [&](int64_t at) SOFTNPU_INLINED {
      const T* const row = first + at;
      for (int q = 0; q < kCount; ++q) sum[q].add(load_lanes(row + column(q)));
      if (ahead.any())
        for (int64_t i = 0; i < kCount * kLanes; i += kLine) prefetch(row + x + i, ahead);
    });
    for (int q = 0; q < kCount; ++q) put(column(q), sum[q], kLanes);
  }
};

template <class T>
void sum_in_double(const ExactRow<T>& row, int64_t x, int64_t n, double* sums) {
  const T* const first = row.first + x;
  if (n >= kQuad)
    return sum_large_boxes(first, row.rows, row.sy, row.planes, row.sz, n, Ahead{},
                           Sums<false>{sums, nullptr});
  for (int64_t i = 0; i < n; ++i) sums[i] = widen(first[i]);
  for_other_rows(row.rows, row.sy, row.planes, row.sz, [&](int64_t at) {
    for (int64_t i = 0; i < n; ++i) sums[i] += widen(first[at + i]);
  });
}

// n totals, kLanes at most, in float64: each of `length` columns, `step` apart, from x on.
template <class T>
__attribute__((noinline)) void total_in_double(const ExactRow<T>& row, int64_t x, int64_t length,
                                               int64_t step, int64_t n, T* out) {
  double totals[kLanes], sums[kLanes];
  sum_in_double(row, x, n, totals);
  for (int64_t k = 1; k < length; ++k) {
    sum_in_double(row, x + k * step, n, sums);
    for (int64_t i = 0; i < n; ++i) totals[i] += sums[i];
  }
  for (int64_t i = 0; i < n; ++i) narrow(static_cast<float>(one_nan(totals[i])), out[i]);
}

// n totals, each of one column. They are not read from memory.
template <class T>
void total_single_columns(const ExactRow<T>& row, int64_t n, Ahead ahead, T* out) {
  row.sum_columns(n, ahead, [&](int64_t x, const ExactSum& sum, int64_t count) SOFTNPU_INLINED {
    if (!sum.template rounds_to_same<T>()) [[unlikely]]
      total_in_double(row, x, 1, 0, count, out + x);
    else if (count == kLanes) [[likely]]
      store_lanes(sum.value, out + x);
    else
      store_some(sum.value, out + x, count);
  });
}

// The totals of n ranges of positions with nv channels, a vector or more. Range w is of positions
// [start[w], start[w + 1]), the first one the row's first.
template <class T>
void total_position_ranges(const ExactRow<T>& row, const int64_t* start, int64_t n, int64_t nv,
                           T* out) {
  for (int64_t w = 0; w < n; ++w, out += nv) {
    const int64_t begin = start[w] - start[0], end = start[w + 1] - start[0];
    if (begin == end) {
      fill_zero(nv, out);
      continue;
    }
    for_steps<kLanes>(0, nv, [&](int64_t v) SOFTNPU_INLINED {
      ExactSum sum = row.exact_sum(begin * nv + v, kLanes);
      for (int64_t x = begin + 1; x < end; ++x) sum.add(row.exact_sum(x * nv + v, kLanes));
      if (sum.template rounds_to_same<T>()) [[likely]]
        store_lanes(sum.value, out + v);
      else
        total_in_double(row, begin * nv + v, end - begin, nv, kLanes, out + v);
    });
  }
}

SOFTNPU_LEVEL_END
#endif
