// SPDX-License-Identifier: Apache-2.0
// Sums in float32, side by side, while they are exact there: nearly all of 16-bit elements, and all
// of one float32. Then float64 sums, added up in the same order, have the same values. Half the
// time of those with AVX-512, 0.7 to 0.9 of it with AVX2.
#pragma once

#include "loops/quads.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// v[1], v[0], v[3], v[2], …
SOFTNPU_INLINE Lanes swap_neighbours(Lanes v) {
#if defined(__AVX512F__)
  return _mm512_maskz_permute_ps(0xFFFF, v, 0xB1);
#else
  return _mm256_permute_ps(v, 0xB1);
#endif
}

#if defined(__AVX512F__)
// Every second element of 2 · kLanes, and the others.
struct EvenOdd {
  Lanes even, odd;
};
SOFTNPU_INLINE EvenOdd load_even_and_odd(const bf16* in) {
  __m512i words = _mm512_loadu_si512(in);
  asm("" : "+v"(words));  // or gcc loads them twice, and most cross a line: 0.95 of the time
  const __m512i high = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
  return {_mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xFFFF, words, 16)),
          _mm512_castsi512_ps(_mm512_and_si512(words, high))};
}

// Rounded up at each step, and rounded down. The two are the same if nothing was ever rounded: once
// they differ, they only move apart. The one that was rounded up has the zeros of rounding to
// nearest.
struct ExactSum {
  Lanes value, down;

  ExactSum() = default;  // of nothing yet
  SOFTNPU_INLINE explicit ExactSum(Lanes first) : ExactSum(first, first) {}
  SOFTNPU_INLINE ExactSum(Lanes value, Lanes down) : value(value), down(down) {}
  SOFTNPU_INLINE void add(Lanes term) { add(term, term); }
  SOFTNPU_INLINE void add(const ExactSum& other) { add(other.value, other.down); }
  SOFTNPU_INLINE void add_neighbours() { add(swap_neighbours(value), swap_neighbours(down)); }
  // The neighbours' sums of this and of the elements that follow.
  SOFTNPU_INLINE ExactSum neighbours(const ExactSum& next) const {
    ExactSum sum(evens(value, next.value), evens(down, next.down));
    sum.add(odds(value, next.value), odds(down, next.down));
    return sum;
  }
  // Whether the sum in float64 is rounded to the same element of type T as this one: it is exact,
  // or all between the two is rounded to one. NaN is not.
  template <class T>
  SOFTNPU_INLINE bool rounds_to_same() const {
    if (!any(differ(value, down))) [[likely]]
      return true;
    if constexpr (sizeof(T) == 2)
      return !any(differ(value, value)) && are_equal(to_words<T>(value), to_words<T>(down));
    return false;
  }

  // The sums of groups of the elements of this and of `next`, which follow them.
  SOFTNPU_INLINE ExactSum picked(const ExactSum& next, const loops::SixteenGroups& groups) const {
    const __m512i step = _mm512_set1_epi32(groups.step);
    __m512i places = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)groups.first));
    ExactSum sum(_mm512_maskz_permutex2var_ps(groups.present[0], value, places, next.value),
                 _mm512_maskz_permutex2var_ps(groups.present[0], down, places, next.down));
    SOFTNPU_ROLLED
    for (int k = 1; k < loops::SixteenGroups::kLongest && groups.present[k] != 0; ++k) {
      places = _mm512_add_epi32(places, step);
      sum.add_where(groups.present[k], _mm512_permutex2var_ps(value, places, next.value),
                    _mm512_permutex2var_ps(down, places, next.down));
    }
    return sum;
  }

 private:
  SOFTNPU_INLINE void add(Lanes up_term, Lanes down_term) { add_where(0xFFFF, up_term, down_term); }
  SOFTNPU_INLINE void add_where(__mmask16 where, Lanes up_term, Lanes down_term) {
    constexpr int kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    value = _mm512_mask_add_round_ps(value, where, value, up_term, kUp);
    // On the units that multiply: those that add convert, too. On a Zen 5 x2 float16 in a cache 0.8
    // of the time.
    down = _mm512_mask3_fmadd_round_ps(down_term, splat<Lanes>(1), down, where, kDown);
  }
  SOFTNPU_INLINE static bool are_equal(__m256i a, __m256i b) {
    return _mm256_cmpneq_epi16_mask(a, b) == 0;
  }
  // a[0], a[2], …, b[0], …, and the others.
  SOFTNPU_INLINE static Lanes evens(Lanes a, Lanes b) {
    const __m512i places =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(a, places, b);
  }
  SOFTNPU_INLINE static Lanes odds(Lanes a, Lanes b) {
    const __m512i places =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(a, places, b);
  }
};

// v[0], v[2], …
template <class T>
SOFTNPU_INLINE void store_evens(Lanes v, T* out) {
  _mm_storeu_si128((__m128i*)out, _mm256_maskz_cvtepi32_epi16(0xFF, to_words<T>(v)));
}
// v[0], 0, v[1], 0, … for the first `count` elements
template <class T>
SOFTNPU_INLINE void store_apart(Lanes v, T* out, int64_t count) {
  const __m512i apart = _mm512_maskz_cvtepu16_epi32(0xFFFF, to_words<T>(v));
  if (count == kLanes)
    _mm512_storeu_si512(out, apart);
  else
    _mm512_mask_storeu_epi32(out, first_lanes(count), apart);
}
#else
struct ExactSum {
  Lanes value;
  decltype(differ(Lanes(), Lanes())) inexact;  // or NaN

  SOFTNPU_INLINE explicit ExactSum(Lanes first) : value(first), inexact(differ(first, first)) {}
  // No rounding error is left where neither term differs from the sum less the other.
  SOFTNPU_INLINE void add(Lanes term) {
    const Lanes sum = value + term;
    inexact |= differ(sum - value, term) | differ(sum - term, value);
    value = sum;
  }
  SOFTNPU_INLINE void add(const ExactSum& other) {
    inexact |= other.inexact;
    add(other.value);
  }
  SOFTNPU_INLINE void add_neighbours() { add(swap_neighbours(value)); }
  template <class T>
  SOFTNPU_INLINE bool rounds_to_same() const {
    return !any(inexact);
  }
};

template <class T>
SOFTNPU_INLINE void store_evens(Lanes v, T* out) {
  const __m128i even = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
  _mm_storel_epi64((__m128i*)out, _mm_shuffle_epi8(to_words<T>(v), even));
}
template <class T>
SOFTNPU_INLINE void store_apart(Lanes v, T* out, int64_t count) {
  const __m256i apart = _mm256_cvtepu16_epi32(to_words<T>(v));
  if (count == kLanes) return _mm256_storeu_si256((__m256i*)out, apart);
  T all[2 * kLanes];
  _mm256_storeu_si256((__m256i*)all, apart);
  std::memcpy(out, all, static_cast<size_t>(2 * count) * sizeof(T));
}
#endif

// Whether `count` elements of type T are added up that way: those of 16 bits, and float32 alone.
template <class T, int count>
constexpr bool kSumsExactly =
    sizeof(T) < sizeof(float) || (count == 1 && sizeof(T) == sizeof(float));

SOFTNPU_LEVEL_END
#endif
