// SPDX-License-Identifier: Apache-2.0
// Converts a run-time number to a compile-time constant.
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Calls f<n>(), for n from 1 to kMost.
template <int kMost, class F>
SOFTNPU_INLINE void with_count(int64_t n, const F& f) {
  if constexpr (kMost > 1)
    if (n < kMost) return with_count<kMost - 1>(n, f);
  f.template operator()<kMost>();
}

SOFTNPU_LEVEL_END
