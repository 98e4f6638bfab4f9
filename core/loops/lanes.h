// SPDX-License-Identifier: Apache-2.0
// Vectors of float32, loaded from and stored to any floating type, because compilers do not use the
// hardware's half-precision conversions in loops. Without SOFTNPU_LANES, scalar loops are used.
//
// 16-bit stores require canonical NaNs (one_nan()).
#pragma once

#include <bit>
#include <cstdint>

#include "loops/level.h"
#include "loops/storage.h"

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__F16C__))
#include <immintrin.h>
#define SOFTNPU_LANES 1
#elif defined(__aarch64__)
#include "loops/neon.h"
#define SOFTNPU_LANES 1
#endif

SOFTNPU_LEVEL_BEGIN

template <class V>
SOFTNPU_INLINE V splat(float value);
template <>
SOFTNPU_INLINE float splat<float>(float value) {
  return value;
}
SOFTNPU_INLINE float magnitude(float v) { return __builtin_fabsf(v); }
SOFTNPU_INLINE float select(bool condition, float a, float b) { return condition ? a : b; }
SOFTNPU_INLINE bool any(bool condition) { return condition; }
SOFTNPU_INLINE bool is_less(float v, float limit) { return v < limit; }
// Whether 0 < |v| < limit.
SOFTNPU_INLINE bool is_tiny(float v, float limit) { return (v < limit) & (v > -limit) & (v != 0); }
// Entry i % 16 of a table, for shifted = 1.5 · 2^23 + i.
SOFTNPU_INLINE float look_up(const float* table, float shifted) {
  return table[std::bit_cast<uint32_t>(shifted) & 15];
}
// The bits of v plus the bits of `shifted`, shifted left.
SOFTNPU_INLINE float add_bits(float v, float shifted, int places) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(v) +
                              (std::bit_cast<uint32_t>(shifted) << places));
}
// a · b + c with one rounding, in software if necessary, so that all levels have the same bits.
SOFTNPU_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

#if defined(SOFTNPU_LANES) && defined(__AVX2__)
// Converts eight 16-bit elements of type T.
template <class T>
SOFTNPU_INLINE __m256 widen_eight(__m128i words);
template <>
SOFTNPU_INLINE __m256 widen_eight<f16>(__m128i words) {
  return _mm256_cvtph_ps(words);
}
template <>
SOFTNPU_INLINE __m256 widen_eight<bf16>(__m128i words) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16));
}
#endif

#if defined(__AVX512F__)
// Masked forms with a full mask, because gcc 12 warns about the plain intrinsics.
constexpr int64_t kLanes = 16;
using Lanes = __m512;

template <>
SOFTNPU_INLINE Lanes splat<Lanes>(float value) {
  return _mm512_set1_ps(value);
}
template <class Mask>
SOFTNPU_INLINE bool any(Mask mask) {
  return _mm512_movepi32_mask((__m512i)mask) != 0;
}
SOFTNPU_INLINE bool any(__mmask16 mask) { return mask != 0; }
SOFTNPU_INLINE __mmask16 is_less(Lanes v, float limit) {
  return _mm512_cmp_ps_mask(v, _mm512_set1_ps(limit), _CMP_LT_OQ);
}
SOFTNPU_INLINE __mmask16 differ(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
SOFTNPU_INLINE __mmask16 is_tiny(Lanes v, float limit) {
  const __mmask16 small = _mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(limit), _CMP_LT_OQ);
  return _mm512_mask_cmp_ps_mask(small, v, _mm512_setzero_ps(), _CMP_NEQ_OQ);
}
SOFTNPU_INLINE Lanes fused(Lanes a, Lanes b, Lanes c) { return _mm512_fmadd_ps(a, b, c); }
SOFTNPU_INLINE Lanes look_up(const float* table, Lanes shifted) {
  return _mm512_maskz_permutexvar_ps(0xFFFF, _mm512_castps_si512(shifted), _mm512_loadu_ps(table));
}
SOFTNPU_INLINE Lanes load_lanes(const float* in) { return _mm512_loadu_ps(in); }
SOFTNPU_INLINE Lanes load_lanes(const f16* in) {
  return _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256((const __m256i*)in));
}
// Word i becomes the high half of float i, in one step instead of widening and shifting.
SOFTNPU_INLINE Lanes widen_words(__m256i words) {
  const __m512i places = _mm512_maskz_slli_epi32(
      0xFFFF, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), 16);
  return _mm512_castsi512_ps(
      _mm512_maskz_permutexvar_epi16(0xAAAAAAAA, places, _mm512_castsi256_si512(words)));
}
SOFTNPU_INLINE Lanes load_lanes(const bf16* in) {
  return widen_words(_mm256_loadu_si256((const __m256i*)in));
}
// Every second element. Reads all 2 · kLanes elements.
SOFTNPU_INLINE Lanes load_even_lanes(const float* in) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(_mm512_loadu_ps(in), even, _mm512_loadu_ps(in + 16));
}
template <class T>
SOFTNPU_INLINE __m256i even_words(const T* in) {
  return _mm512_maskz_cvtepi32_epi16(0xFFFF, _mm512_loadu_si512(in));
}
SOFTNPU_INLINE void copy_even(const float* in, float* out) {
  _mm512_storeu_ps(out, load_even_lanes(in));
}
template <class T>
SOFTNPU_INLINE void copy_even(const T* in, T* out) {
  _mm256_storeu_si256((__m256i*)out, even_words(in));
}
SOFTNPU_INLINE void store_lanes(Lanes v, float* out) { _mm512_storeu_ps(out, v); }
// The bits of elements of type T.
template <class T>
SOFTNPU_INLINE __m256i to_words(Lanes v);
template <>
SOFTNPU_INLINE __m256i to_words<f16>(Lanes v) {
  return _mm512_maskz_cvtps_ph(0xFFFF, v, _MM_FROUND_TO_NEAREST_INT);
}
template <>
SOFTNPU_INLINE __m256i to_words<bf16>(Lanes v) {
  const __m512i bits = _mm512_castps_si512(v), one = _mm512_set1_epi32(1);
  const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  const __m512i half = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
  const __m512i sum = _mm512_mask_add_epi32(half, odd, half, one);
  const __m512i high_words =
      _mm512_set_epi32(0x001F001D, 0x001B0019, 0x00170015, 0x00130011, 0x000F000D, 0x000B0009,
                       0x00070005, 0x00030001, 0x001F001D, 0x001B0019, 0x00170015, 0x00130011,
                       0x000F000D, 0x000B0009, 0x00070005, 0x00030001);
  return _mm512_maskz_extracti64x4_epi64(
      0xFF, _mm512_maskz_permutexvar_epi16(0xFFFFFFFF, high_words, sum), 0);
}
template <class T>
SOFTNPU_INLINE void store_lanes(Lanes v, T* out) {
  _mm256_storeu_si256((__m256i*)out, to_words<T>(v));
}
// Stores to every second element and leaves those in between unchanged.
#define SOFTNPU_STORES_EVEN 1
SOFTNPU_INLINE void store_even_lanes(Lanes v, float* out) {
  const __m512i low = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  const __m512i high =
      _mm512_setr_epi32(8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15);
  _mm512_mask_storeu_ps(out, 0x5555, _mm512_maskz_permutexvar_ps(0xFFFF, low, v));
  _mm512_mask_storeu_ps(out + 16, 0x5555, _mm512_maskz_permutexvar_ps(0xFFFF, high, v));
}
template <class T>
SOFTNPU_INLINE void store_even_words(__m256i words, T* out) {
  _mm512_mask_storeu_epi16(out, 0x55555555, _mm512_maskz_cvtepu16_epi32(0xFFFF, words));
}
SOFTNPU_INLINE void spread_even(const float* in, float* out) {
  store_even_lanes(_mm512_loadu_ps(in), out);
}
template <class T>
SOFTNPU_INLINE void spread_even(const T* in, T* out) {
  store_even_words(_mm256_loadu_si256((const __m256i*)in), out);
}
// The first `count` elements, fewer than kLanes. Accesses nothing behind them.
SOFTNPU_INLINE __mmask16 first_lanes(int64_t count) {
  return static_cast<__mmask16>((1u << count) - 1);
}
SOFTNPU_INLINE Lanes load_some(const float* in, int64_t count) {
  return _mm512_maskz_loadu_ps(first_lanes(count), in);
}
SOFTNPU_INLINE Lanes load_some(const f16* in, int64_t count) {
  return _mm512_maskz_cvtph_ps(0xFFFF, _mm256_maskz_loadu_epi16(first_lanes(count), in));
}
SOFTNPU_INLINE Lanes load_some(const bf16* in, int64_t count) {
  return widen_words(_mm256_maskz_loadu_epi16(first_lanes(count), in));
}
SOFTNPU_INLINE void store_some(Lanes v, float* out, int64_t count) {
  _mm512_mask_storeu_ps(out, first_lanes(count), v);
}
template <class T>
SOFTNPU_INLINE void store_some(Lanes v, T* out, int64_t count) {
  _mm256_mask_storeu_epi16(out, first_lanes(count), to_words<T>(v));
}
#elif defined(SOFTNPU_LANES) && defined(__AVX2__)
constexpr int64_t kLanes = 8;
using Lanes = __m256;

template <>
SOFTNPU_INLINE Lanes splat<Lanes>(float value) {
  return _mm256_set1_ps(value);
}
template <class Mask>
SOFTNPU_INLINE bool any(Mask mask) {
  return _mm256_movemask_ps((__m256)mask) != 0;
}
SOFTNPU_INLINE Lanes fused(Lanes a, Lanes b, Lanes c) { return _mm256_fmadd_ps(a, b, c); }
SOFTNPU_INLINE Lanes look_up(const float* table, Lanes shifted) {
  const __m256i i = _mm256_castps_si256(shifted);
  const __m256 first = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), i);
  const __m256 second = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), i);
  return _mm256_blendv_ps(first, second, _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));
}
SOFTNPU_INLINE Lanes load_lanes(const float* in) { return _mm256_loadu_ps(in); }
template <class T>
SOFTNPU_INLINE Lanes load_lanes(const T* in) {
  return widen_eight<T>(_mm_loadu_si128((const __m128i*)in));
}
SOFTNPU_INLINE Lanes load_even_lanes(const float* in) {
  const __m256 mixed = _mm256_shuffle_ps(_mm256_loadu_ps(in), _mm256_loadu_ps(in + 8), 0x88);
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xD8));
}
template <class T>
SOFTNPU_INLINE __m128i even_words(const T* in) {
  const __m256i low =
      _mm256_and_si256(_mm256_loadu_si256((const __m256i*)in), _mm256_set1_epi32(0xFFFF));
  return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}
SOFTNPU_INLINE void copy_even(const float* in, float* out) {
  _mm256_storeu_ps(out, load_even_lanes(in));
}
template <class T>
SOFTNPU_INLINE void copy_even(const T* in, T* out) {
  _mm_storeu_si128((__m128i*)out, even_words(in));
}
SOFTNPU_INLINE void store_lanes(Lanes v, float* out) { _mm256_storeu_ps(out, v); }
// The bits of elements of type T.
template <class T>
SOFTNPU_INLINE __m128i to_words(Lanes v);
template <>
SOFTNPU_INLINE __m128i to_words<f16>(Lanes v) {
  return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
}
template <>
SOFTNPU_INLINE __m128i to_words<bf16>(Lanes v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
  const __m256i high = _mm256_srli_epi32(sum, 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}
template <class T>
SOFTNPU_INLINE void store_lanes(Lanes v, T* out) {
  _mm_storeu_si128((__m128i*)out, to_words<T>(v));
}
#endif

#ifdef SOFTNPU_LANES
using LaneBits = uint32_t __attribute__((vector_size(sizeof(Lanes))));
#if !defined(__AVX512F__)
SOFTNPU_INLINE auto is_less(Lanes v, float limit) { return v < limit; }
SOFTNPU_INLINE auto differ(Lanes a, Lanes b) { return a != b; }
// In integers: doubling the bits drops the sign, and subtracting one turns 0 into the largest
// number. This saves two comparisons.
SOFTNPU_INLINE auto is_tiny(Lanes v, float limit) {
  using Ordered = int32_t __attribute__((vector_size(sizeof(Lanes))));
  constexpr uint32_t kLess = 0x7FFFFFFF;  // -1, with the sign flipped for the signed comparison
  const auto least = static_cast<int32_t>(2 * std::bit_cast<uint32_t>(limit) + kLess);
  return (Ordered)((LaneBits)v + (LaneBits)v + kLess) < least;
}
#endif

SOFTNPU_INLINE auto is_nan(Lanes v) { return differ(v, v); }
SOFTNPU_INLINE Lanes magnitude(Lanes v) { return (Lanes)((LaneBits)v & 0x7FFFFFFF); }
SOFTNPU_INLINE Lanes add_bits(Lanes v, Lanes shifted, int places) {
  return (Lanes)((LaneBits)v + ((LaneBits)shifted << places));
}
template <class Mask>
SOFTNPU_INLINE Lanes select(Mask mask, Lanes a, Lanes b) {
  return mask ? a : b;
}
SOFTNPU_INLINE Lanes one_nan(Lanes v) {
  return select(v == v, v, splat<Lanes>(__builtin_nanf("")));
}
#endif

SOFTNPU_LEVEL_END

#ifdef SOFTNPU_LANES
#include "loops/some_lanes.h"
#endif
