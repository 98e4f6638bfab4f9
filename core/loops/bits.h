// SPDX-License-Identifier: Apache-2.0
// Elements that are copied as raw bits.
#pragma once

#include <cstdint>

#include "base/tuning.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// A byte that, unlike uint8_t, does not alias other types.
enum class Bits8 : uint8_t {};

// Calls f.template operator()<Bits>() with a type of `item` bytes: 1, 2, 4 or 8.
template <class F>
SOFTNPU_INLINE auto with_bits(int64_t item, const F& f) {
  switch (item) {
    case 1:
      return f.template operator()<Bits8>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    default:
      return f.template operator()<uint64_t>();
  }
}

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
