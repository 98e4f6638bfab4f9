// SPDX-License-Identifier: Apache-2.0
// Looks indices over, several in one vector.
#pragma once

#include <cstdint>
#include <type_traits>

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

// out[i] = from[index[i]] for eight places. Elements of up to four bytes are stored at once: on a
// Zen 5 0.9 of the time in a cache, of two bytes on a Zen 4 0.97; of eight bytes the same.
template <class Bits>
SOFTNPU_INLINE void gather_eight(const Bits* from, const int64_t* index, Bits* out) {
#if defined(__x86_64__)
  if constexpr (sizeof(Bits) <= 4) {
    using Lane = std::conditional_t<sizeof(Bits) == 1, uint8_t,
                                    std::conditional_t<sizeof(Bits) == 2, uint16_t, uint32_t>>;
    using Eight [[gnu::vector_size(8 * sizeof(Bits))]] = Lane;
    const auto at = [&](int i) SOFTNPU_INLINED { return static_cast<Lane>(from[index[i]]); };
    const Eight eight = {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
    __builtin_memcpy(out, &eight, sizeof eight);
    return;
  }
#endif
  SOFTNPU_UNROLLED
  for (int64_t i = 0; i < 8; ++i) out[i] = from[index[i]];
}

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

#define SOFTNPU_GATHERS 1
// out[i] = from[index[i]] for kIndices places of elements of 4 bytes or less; smaller ones as part
// of a word, in which `from` begins and ends. Not fast on every machine (base/machine.h).
template <class Bits>
SOFTNPU_INLINE void gather_vectors(const Bits* from, const int64_t* index, Bits* out) {
  constexpr int kInWord = 4 / sizeof(Bits), kShift = kInWord / 2, kBits = 8 * sizeof(Bits);
  for (int64_t i = 0; i < kIndices; i += 8) {
    const __m512i places = _mm512_loadu_si512(index + i);
    __m256i words = _mm512_i64gather_epi32(_mm512_srli_epi64(places, kShift), from, 4);
    if constexpr (kInWord > 1) {
      const __m256i parts =
          _mm256_and_si256(_mm512_cvtepi64_epi32(places), _mm256_set1_epi32(kInWord - 1));
      words = _mm256_srlv_epi32(words, _mm256_mullo_epi16(parts, _mm256_set1_epi32(kBits)));
    }
    if constexpr (kInWord == 1)
      _mm256_storeu_si256((__m256i*)(out + i), words);
    else if constexpr (kInWord == 2)
      _mm_storeu_si128((__m128i*)(out + i), _mm256_cvtepi32_epi16(words));
    else
      _mm_storel_epi64((__m128i*)(out + i), _mm256_cvtepi32_epi8(words));
  }
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
