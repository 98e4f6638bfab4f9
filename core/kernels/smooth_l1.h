// SPDX-License-Identifier: Apache-2.0
// Float32 arithmetic for the smooth L1 loss and its gradient.
#pragma once

#include <bit>

#include "loops/lanes.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

inline bool is_power_of_two(double v) { return (std::bit_cast<uint64_t>(v) << 12) == 0; }

// For v > 0.
inline float rounded_down(double v) {
  const auto nearest = static_cast<float>(v);
  return nearest <= v ? nearest : std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - 1);
}

// The rounding error of d, the rounded a - b; never -0.
template <class V>
SOFTNPU_INLINE V excess_of_difference(V a, V b, V d) {
  const V back = a - d;
  return ((d + back) - a) + (b - back);
}

SOFTNPU_LEVEL_END
