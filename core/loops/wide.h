// SPDX-License-Identifier: Apache-2.0
// Vectors of float64, as wide as the instruction set supports, loaded from any floating type,
// because compilers do not use the hardware's half-precision conversions in loops.
#pragma once

#include <cstdint>
#include <cstring>

#include "loops/level.h"
#include "loops/storage.h"

#if defined(__AVX2__)
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

// The number of elements of V: Wide or double.
template <class V>
constexpr int kLanesOf = sizeof(V) / sizeof(double);

// gcc 12 compiles __builtin_convertvector() to several instructions where one exists.
#if defined(__AVX512F__)
SOFTNPU_INLINE Wide to_wide(WideFloat v) { return (Wide)_mm512_maskz_cvtps_pd(0xFF, (__m256)v); }
SOFTNPU_INLINE WideFloat to_float(Wide v) {
  return (WideFloat)_mm512_maskz_cvtpd_ps(0xFF, (__m512d)v);
}
SOFTNPU_INLINE WideFloat load_floats(const f16* in) {
  return (WideFloat)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)in));
}
SOFTNPU_INLINE WideFloat load_floats(const bf16* in) {
  const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)in));
  return (WideFloat)_mm256_slli_epi32(words, 16);
}
#elif defined(__AVX2__)
SOFTNPU_INLINE Wide to_wide(WideFloat v) { return (Wide)_mm256_cvtps_pd((__m128)v); }
SOFTNPU_INLINE WideFloat to_float(Wide v) { return (WideFloat)_mm256_cvtpd_ps((__m256d)v); }
SOFTNPU_INLINE WideFloat load_floats(const f16* in) {
  return (WideFloat)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i*)in));
}
SOFTNPU_INLINE WideFloat load_floats(const bf16* in) {
  const __m128i words = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i*)in));
  return (WideFloat)_mm_slli_epi32(words, 16);
}
#else
SOFTNPU_INLINE Wide to_wide(WideFloat v) { return __builtin_convertvector(v, Wide); }
SOFTNPU_INLINE WideFloat to_float(Wide v) { return __builtin_convertvector(v, WideFloat); }
template <class T>
SOFTNPU_INLINE WideFloat load_floats(const T* in) {
  WideFloat v;
  for (int i = 0; i < kWideLanes; ++i) v[i] = widen(in[i]);
  return v;
}
#endif
SOFTNPU_INLINE WideFloat load_floats(const float* in) {
  WideFloat v;
  std::memcpy(&v, in, sizeof v);
  return v;
}

template <class V, class T>
SOFTNPU_INLINE V load_wide(const T* in) {
  if constexpr (kLanesOf<V> == 1) {
    return static_cast<double>(widen(*in));
  } else if constexpr (std::is_same_v<T, double>) {
    Wide v;
    std::memcpy(&v, in, sizeof v);
    return v;
  } else {
    return to_wide(load_floats(in));
  }
}

template <class V>
SOFTNPU_INLINE void store_wide(V v, double* out) {
  std::memcpy(out, &v, sizeof v);
}
SOFTNPU_INLINE void store_wide(double v, float* out) { *out = static_cast<float>(v); }
SOFTNPU_INLINE void store_wide(Wide v, float* out) {
  const WideFloat narrowed = to_float(v);
  std::memcpy(out, &narrowed, sizeof narrowed);
}
SOFTNPU_INLINE double magnitude(double v) { return __builtin_fabs(v); }
SOFTNPU_INLINE Wide magnitude(Wide v) {
  using Bits = int64_t __attribute__((vector_size(sizeof(Wide))));
  return (Wide)((Bits)v & INT64_MAX);
}
SOFTNPU_INLINE Wide one_nan(Wide v) { return v == v ? v : Wide{} + __builtin_nan(""); }

SOFTNPU_LEVEL_END
