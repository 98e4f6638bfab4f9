// SPDX-License-Identifier: Apache-2.0
// Looks indices over, several in one vector.
#pragma once

#include <cstdint>

#include "loops/level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

SOFTNPU_LEVEL_BEGIN

// Whether an index is negative or above the last place.
SOFTNPU_INLINE bool is_bad(int64_t index, int64_t last) {
  return static_cast<uint64_t>(index) > static_cast<uint64_t>(last);
}

constexpr int64_t kIndices = 16;

// Whether any of kCount indices is bad; kCount is a multiple of kIndices. A plain loop would be
// vectorised, too, but compilers reduce its last vector to one value step by step: gathers in cache
// take 1.1 to 1.4 times as long then.
#if defined(__AVX512F__)
template <int64_t kCount>
SOFTNPU_INLINE bool has_bad(const int64_t* index, int64_t last) {
  const __m512i lasts = _mm512_set1_epi64(last);
  const auto bad = [&](const int64_t* eight) {
    return _mm512_cmpgt_epu64_mask(_mm512_loadu_si512(eight), lasts);
  };
  unsigned found = 0;
  for (int64_t i = 0; i < kCount; i += 8) found |= bad(index + i);
  return found != 0;
}
#else
// The sign bit of i | (last - i) tells it where there is no comparison without signs.
#if defined(__AVX2__)
using Indices = uint64_t __attribute__((vector_size(32)));
SOFTNPU_INLINE bool any_sign(Indices v) { return _mm256_movemask_pd((__m256d)v) != 0; }
#elif defined(__SSE2__)
using Indices = uint64_t __attribute__((vector_size(16)));
SOFTNPU_INLINE bool any_sign(Indices v) { return _mm_movemask_pd((__m128d)v) != 0; }
#else
using Indices = uint64_t __attribute__((vector_size(16)));
SOFTNPU_INLINE bool any_sign(Indices v) { return (v[0] | v[1]) >> 63 != 0; }
#endif
template <int64_t kCount>
SOFTNPU_INLINE bool has_bad(const int64_t* index, int64_t last) {
  constexpr int64_t kLong = sizeof(Indices) / sizeof(int64_t);
  const Indices lasts = Indices{} + static_cast<uint64_t>(last);
  Indices signs = {};
  for (int64_t i = 0; i < kCount; i += kLong) {
    Indices v;
    __builtin_memcpy(&v, index + i, sizeof v);
    signs |= v | (lasts - v);
  }
  return any_sign(signs);
}
#endif

SOFTNPU_LEVEL_END
