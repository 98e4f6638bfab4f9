// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a vector's first `count` elements, at most kLanes, for instruction sets
// without masks. Nothing behind them is accessed. All sizes are constants: calls of memcpy() are
// slow, and partial writes defeat store-to-load forwarding. A part of lanes.h.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "loops/level.h"
#include "loops/storage.h"

SOFTNPU_LEVEL_BEGIN

#if defined(__AVX2__)
// The first `count` of eight 16-bit elements, then zeros.
template <class T>
SOFTNPU_INLINE __m128i load_some_words(const T* in, int64_t count) {
  if (count <= 0) return _mm_setzero_si128();
  if (count >= 8) return _mm_loadu_si128((const __m128i*)in);
#if defined(__AVX512F__)
  return _mm_maskz_loadu_epi16(static_cast<__mmask8>((1u << count) - 1), in);
#else
  // From the last elements to the first: each step moves the others up.
  __m128i all = _mm_setzero_si128();
  if (count & 1) all = _mm_insert_epi16(all, std::bit_cast<int16_t>(in[count - 1]), 0);
  if (count & 2) {
    int32_t two;
    std::memcpy(&two, in + (count & 4), sizeof two);
    all = _mm_insert_epi32(_mm_slli_si128(all, 4), two, 0);
  }
  return count & 4 ? _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i*)in), all) : all;
#endif
}
#endif

#if defined(__AVX512F__)
// See lanes.h.
#elif defined(__AVX2__)
SOFTNPU_INLINE Lanes load_some(const float* in, int64_t count) {
  alignas(64) static constexpr int32_t kMask[2 * kLanes] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_maskload_ps(in, _mm256_loadu_si256((const __m256i*)(kMask + kLanes - count)));
}
template <class T>
SOFTNPU_INLINE Lanes load_some(const T* in, int64_t count) {
  return widen_eight<T>(load_some_words(in, count));
}
SOFTNPU_INLINE void store_some(Lanes v, float* out, int64_t count) {
  if (count == kLanes) return store_lanes(v, out);
  __m128 left = _mm256_castps256_ps128(v);
  if (count & 4) {
    _mm_storeu_ps(out, left);
    out += 4;
    left = _mm256_extractf128_ps(v, 1);
  }
  if (count & 2) {
    _mm_storel_pi((__m64*)out, left);
    out += 2;
    left = _mm_movehl_ps(left, left);
  }
  if (count & 1) _mm_store_ss(out, left);
}
template <class T>
SOFTNPU_INLINE void store_some(Lanes v, T* out, int64_t count) {
  if (count == kLanes) return store_lanes(v, out);
  __m128i left = to_words<T>(v);
  if (count & 4) {
    _mm_storel_epi64((__m128i*)out, left);
    out += 4;
    left = _mm_unpackhi_epi64(left, left);
  }
  if (count & 2) {
    const int32_t two = _mm_cvtsi128_si32(left);
    std::memcpy(out, &two, sizeof two);
    out += 2;
    left = _mm_srli_si128(left, 4);
  }
  if (count & 1) *out = std::bit_cast<T>(static_cast<uint16_t>(_mm_extract_epi16(left, 0)));
}
#else
template <class T>
SOFTNPU_INLINE void copy_some(const T* in, int64_t count, T* out) {
  static_assert(kLanes == 4);
  if (count & 4) std::memcpy(out, in, 4 * sizeof(T));
  if (count & 2) std::memcpy(out, in, 2 * sizeof(T));
  if (count & 1) out[count - 1] = in[count - 1];
}
template <class T>
SOFTNPU_INLINE Lanes load_some(const T* in, int64_t count) {
  T all[kLanes] = {};
  copy_some(in, count, all);
  return load_lanes(all);
}
template <class T>
SOFTNPU_INLINE void store_some(Lanes v, T* out, int64_t count) {
  T all[kLanes];
  store_lanes(v, all);
  copy_some(all, count, out);
}
#endif

SOFTNPU_LEVEL_END
