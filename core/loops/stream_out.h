// SPDX-License-Identifier: Apache-2.0
// Non-temporal (streaming) stores, for outputs larger than the caches: a plain store would first
// read the cache line from memory. They are slower on new pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// The number of elements before the next cache line boundary.
template <class T>
SOFTNPU_INLINE int64_t elements_before_line(const T* to) {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) & 63) /
         static_cast<int64_t>(sizeof(T));
}

inline void stream_out(std::byte* to, const std::byte* from, int64_t bytes) {
#if defined(__x86_64__)
  constexpr int64_t kLine = 64;
  const int64_t head = least(elements_before_line(to), bytes);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i*)(to + at), _mm512_loadu_si512(from + at));
#else
    for (int64_t part = 0; part < kLine; part += 16)
      _mm_stream_si128((__m128i*)(to + at + part),
                       _mm_loadu_si128((const __m128i*)(from + at + part)));
#endif
  }
  std::memcpy(to + at, from + at, static_cast<size_t>(bytes - at));
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

// Streams whole cache lines; both sides are aligned.
template <class T, size_t kCount>
SOFTNPU_INLINE void stream_lines(T* to, const T (&from)[kCount]) {
  static_assert(sizeof from % 64 == 0);
#if defined(__AVX512F__)
  // In the pieces that were just written, because a wider load would wait until both have left the
  // store buffer.
  if constexpr (sizeof(T) == 2)
    for (size_t i = 0; i < sizeof from / 32; ++i)
      _mm256_stream_si256((__m256i*)to + i, _mm256_load_si256((const __m256i*)from + i));
  else
    for (size_t i = 0; i < sizeof from / 64; ++i)
      _mm512_stream_si512((__m512i*)to + i, _mm512_load_si512((const __m512i*)from + i));
#elif defined(__x86_64__)
  for (size_t i = 0; i < sizeof from / 16; ++i)
    _mm_stream_si128((__m128i*)to + i, _mm_load_si128((const __m128i*)from + i));
#else
  std::memcpy(to, from, sizeof from);
#endif
}

// Makes streamed data visible to other threads.
inline void finish_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

SOFTNPU_LEVEL_END
