// SPDX-License-Identifier: Apache-2.0
// Running sums in float64, side by side: rows are added up into a row of sums, then neighbours in
// that row are. Each sum adds the same numbers in the same order whatever is beside it.
#pragma once

#include <cstdint>

#include "loops/level.h"
#include "loops/storage.h"

SOFTNPU_LEVEL_BEGIN

// A running sum. For DOUBLE the rounding errors are summed beside it (Knuth's two-sum); the other
// types leave float64 bits enough.
template <bool kCompensated>
struct Sum {
  double value, lost;

  SOFTNPU_INLINE void add(double term, double term_lost) {
    const double sum = value + term;
    if constexpr (kCompensated) {
      const double back = sum - value;
      lost += (value - (sum - back)) + (term - back) + term_lost;
    }
    value = sum;
  }
  SOFTNPU_INLINE double total() const {
    // Nothing lost: the sum as it is, which keeps -0. Infinities make the errors NaN; the plain sum
    // is right then, too.
    if constexpr (kCompensated)
      return one_nan(lost == 0 || lost - lost != 0 ? value : value + lost);
    return one_nan(value);
  }
};

// A row of running sums.
template <bool kCompensated>
struct Sums {
  double *value, *lost;

  SOFTNPU_INLINE Sum<kCompensated> at(int64_t i) const {
    if constexpr (kCompensated) return {value[i], lost[i]};
    return {value[i], 0};
  }
  SOFTNPU_INLINE void add_to(Sum<kCompensated>& sum, int64_t i) const {
    if constexpr (kCompensated)
      sum.add(value[i], lost[i]);
    else
      sum.add(value[i], 0);
  }
  SOFTNPU_INLINE void set(int64_t i, double sum) const {
    value[i] = sum;
    if constexpr (kCompensated) lost[i] = 0;
  }
  void set_zero(int64_t n) const {
    for (int64_t i = 0; i < n; ++i) set(i, 0);
  }
  Sums from(int64_t i) const { return {value + i, lost + i}; }
};

// sums[i] = (nothing or sums[i]) + in[0][i] + in[1][i] + …, in this order. Several rows at a time
// keep the sums in registers: 1.6 times as fast as one by one.
template <int kRows, bool kFirst, bool kCompensated, class V>
void add_rows(const V* const* in, int64_t n, Sums<kCompensated> sums) {
  const V* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = in[r];
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    Sum<kCompensated> sum;
    sum.value = kFirst ? static_cast<double>(rows[0][i]) : sums.value[i];
    if constexpr (kCompensated) sum.lost = kFirst ? 0 : sums.lost[i];
    for (int r = kFirst ? 1 : 0; r < kRows; ++r) sum.add(rows[r][i], 0);
    sums.value[i] = sum.value;
    if constexpr (kCompensated) sums.lost[i] = sum.lost;
  }
}

// out[i] = the total of sums [i · kLength, (i + 1) · kLength).
template <int kLength, bool kCompensated, class Stage>
void total_groups(Sums<kCompensated> sums, int64_t n, Stage* out) {
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    Sum<kCompensated> sum = sums.at(i * kLength);
    for (int x = 1; x < kLength; ++x) sums.add_to(sum, i * kLength + x);
    out[i] = static_cast<Stage>(sum.total());
  }
}

// The same for groups of up to kMost sums, which `picks` lists: kMost rows of n positions.
// Positions beyond a group's length pick a sum of -0, which changes nothing.
template <int kMost, bool kCompensated, class Stage>
void total_picked(Sums<kCompensated> sums, const int32_t* picks, int64_t n, Stage* out) {
  for (int64_t i = 0; i < n; ++i) {
    Sum<kCompensated> sum = sums.at(picks[i]);
    for (int x = 1; x < kMost; ++x) sums.add_to(sum, picks[x * n + i]);
    out[i] = static_cast<Stage>(sum.total());
  }
}

// out[i] = the total of sums i, i + step, …, `length` of them. A group of rows with channels
// inside.
template <int kLength, bool kCompensated, class Stage>
void total_rows(Sums<kCompensated> sums, int64_t step, int64_t n, Stage* out) {
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    Sum<kCompensated> sum = sums.at(i);
    for (int x = 1; x < kLength; ++x) sums.add_to(sum, i + x * step);
    out[i] = static_cast<Stage>(sum.total());
  }
}
template <bool kCompensated, class Stage>
void total_many_rows(Sums<kCompensated> sums, int64_t length, int64_t step, int64_t n, Stage* out) {
  for (int64_t i = 0; i < n; ++i) {
    Sum<kCompensated> sum = sums.at(i);
    for (int64_t x = 1; x < length; ++x) sums.add_to(sum, i + x * step);
    out[i] = static_cast<Stage>(sum.total());
  }
}

SOFTNPU_LEVEL_END
