// SPDX-License-Identifier: Apache-2.0
// Copies of equally spaced elements.
#pragma once

#include <cstdint>

#include "base/tuning.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// out[i * to] = in[i * from] for n elements, in groups, so that loads do not wait for stores.
template <class T>
SOFTNPU_INLINE void copy_spaced(const T* in, int64_t from, int64_t n, T* out, int64_t to) {
  int64_t i = 0;
  for (; i + kUnrolled <= n; i += kUnrolled) {
    T held[kUnrolled];
    SOFTNPU_UNROLLED
    for (int64_t k = 0; k < kUnrolled; ++k) held[k] = in[(i + k) * from];
    SOFTNPU_UNROLLED
    for (int64_t k = 0; k < kUnrolled; ++k) out[(i + k) * to] = held[k];
  }
  for (; i < n; ++i) out[i * to] = in[i * from];
}

SOFTNPU_LEVEL_END
