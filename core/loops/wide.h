// SPDX-License-Identifier: Apache-2.0
// Vectors of float64, as wide as the instruction set has them, read from memory of any floating
// type. Compilers do not use the hardware's half-precision conversions by themselves.
#pragma once

#include <cstdint>
#include <cstring>

#include "loops/level.h"
#include "loops/storage.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

SOFTNPU_LEVEL_BEGIN

#if defined(__AVX512F__)
constexpr int kWideLanes = 8;
#elif defined(__AVX2__)
constexpr int kWideLanes = 4;
#else
constexpr int kWideLanes = 2;
#endif

using Wide = double __attribute__((vector_size(8 * kWideLanes)));
using WideFloat = float __attribute__((vector_size(4 * kWideLanes)));

// As V: Wide, or double for a single element.
template <class V>
constexpr int kLanesOf = sizeof(V) / sizeof(double);

template <class V, class T>
SOFTNPU_INLINE V load_wide(const T* in) {
  if constexpr (kLanesOf<V> == 1) {
    return static_cast<double>(widen(*in));
  } else if constexpr (std::is_same_v<T, double>) {
    Wide v;
    std::memcpy(&v, in, sizeof v);
    return v;
  } else {
    WideFloat v;
    if constexpr (std::is_same_v<T, float>) {
      std::memcpy(&v, in, sizeof v);
#if defined(__AVX512F__)
    } else if constexpr (std::is_same_v<T, f16>) {
      v = (WideFloat)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)in));
    } else {
      const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)in));
      v = (WideFloat)_mm256_slli_epi32(words, 16);
#elif defined(__F16C__)
    } else if constexpr (std::is_same_v<T, f16>) {
      v = (WideFloat)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i*)in));
    } else {
      const __m128i words = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i*)in));
      v = (WideFloat)_mm_slli_epi32(words, 16);
#else
    } else {
      for (int i = 0; i < kWideLanes; ++i) v[i] = widen(in[i]);
#endif
    }
    return __builtin_convertvector(v, Wide);
  }
}

template <class V>
SOFTNPU_INLINE void store_wide(V v, double* out) {
  std::memcpy(out, &v, sizeof v);
}
SOFTNPU_INLINE void store_wide(double v, float* out) { *out = static_cast<float>(v); }
SOFTNPU_INLINE void store_wide(Wide v, float* out) {
  const WideFloat narrowed = __builtin_convertvector(v, WideFloat);
  std::memcpy(out, &narrowed, sizeof narrowed);
}
SOFTNPU_INLINE Wide one_nan(Wide v) { return v == v ? v : Wide{} + __builtin_nan(""); }

SOFTNPU_LEVEL_END
