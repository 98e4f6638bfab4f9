// SPDX-License-Identifier: Apache-2.0
// Running sums in float64, for one element or a vector.
#pragma once

#include <type_traits>

#include "loops/wide.h"

SOFTNPU_LEVEL_BEGIN

// For FLOAT and 16-bit types, float64 is precise enough. For DOUBLE, the rounding errors are summed
// separately (Knuth's two-sum).
template <class T>
constexpr bool kIsCompensated = std::is_same_v<T, double>;

template <class V, bool kCompensated>
struct RunningSum {
  V value;

  SOFTNPU_INLINE void add(const RunningSum& other) { value += other.value; }
  SOFTNPU_INLINE V total() const { return one_nan(value); }
};

template <class V>
struct RunningSum<V, true> {
  V value, lost{};

  SOFTNPU_INLINE void add(const RunningSum& other) {
    const V sum = value + other.value, back = sum - value;
    const V error = (value - (sum - back)) + (other.value - back);
    value = sum;
    lost = lost + (error + other.lost);
  }
  SOFTNPU_INLINE V total() const {
    // If nothing is lost, the plain sum keeps -0. If the errors are NaN, because of infinities, the
    // plain sum is right.
    return one_nan(((lost == 0) | (lost - lost != 0)) ? value : value + lost);
  }
};

// A row of running sums. `lost` is used for DOUBLE only.
template <bool kCompensated>
struct SumRow {
  double *value, *lost;

  template <class V>
  SOFTNPU_INLINE void put(int64_t i, const RunningSum<V, kCompensated>& sum) const {
    store_wide(sum.value, value + i);
    if constexpr (kCompensated) store_wide(sum.lost, lost + i);
  }
  template <class V = double>
  SOFTNPU_INLINE RunningSum<V, kCompensated> at(int64_t i) const {
    RunningSum<V, kCompensated> sum{load_wide<V>(value + i)};
    if constexpr (kCompensated) sum.lost = load_wide<V>(lost + i);
    return sum;
  }
  SumRow from(int64_t i) const { return {value + i, lost + i}; }
};

SOFTNPU_LEVEL_END
