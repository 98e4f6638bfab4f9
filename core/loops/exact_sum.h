// SPDX-License-Identifier: Apache-2.0
// Sums of 16-bit elements in float32, side by side, while they are exact there, as nearly all are:
// then float64 sums, added up in the same order, have the same values. Half the time of those with
// AVX-512, 0.7 to 0.9 of it with AVX2.
#pragma once

#include "loops/quads.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

#if defined(__AVX512F__)
// Rounded up at each step, and rounded down. The two are the same if nothing was ever rounded: once
// they differ, they only move apart. The one that was rounded up has the zeros of rounding to
// nearest.
struct ExactSum {
  Lanes value, down;

  SOFTNPU_INLINE explicit ExactSum(Lanes first) : value(first), down(first) {}
  SOFTNPU_INLINE void add(Lanes term) { add(term, term); }
  SOFTNPU_INLINE void add(const ExactSum& other) { add(other.value, other.down); }
  SOFTNPU_INLINE void add_neighbours() { add(swap_neighbours(value), swap_neighbours(down)); }
  // NaN is not.
  SOFTNPU_INLINE bool exact() const { return !any(differ(value, down)); }

#define SOFTNPU_EXACT_PICKS 1
  // The sums of groups of the elements, in the lower half.
  SOFTNPU_INLINE void add_picked(const loops::EightGroups& groups) {
    const __m512i first = load_places(groups.first), second = load_places(groups.second);
    const Lanes up_term = _mm512_maskz_permutexvar_ps(groups.has_second, second, value);
    const Lanes down_term = _mm512_maskz_permutexvar_ps(groups.has_second, second, down);
    value = _mm512_maskz_permutexvar_ps(groups.has_first, first, value);
    down = _mm512_maskz_permutexvar_ps(groups.has_first, first, down);
    add_where(groups.has_second, up_term, down_term);
  }

 private:
  SOFTNPU_INLINE void add(Lanes up_term, Lanes down_term) { add_where(0xFFFF, up_term, down_term); }
  SOFTNPU_INLINE void add_where(__mmask16 where, Lanes up_term, Lanes down_term) {
    constexpr int kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    value = _mm512_mask_add_round_ps(value, where, value, up_term, kUp);
    down = _mm512_mask_add_round_ps(down, where, down, down_term, kDown);
  }
  SOFTNPU_INLINE static __m512i load_places(const int32_t (&places)[8]) {
    return _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i*)places));
  }
};

SOFTNPU_INLINE void store_half(Lanes v, float* out) {
  _mm256_storeu_ps(out, _mm512_castps512_ps256(v));
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
  SOFTNPU_INLINE bool exact() const { return !any(inexact); }
};
#endif

SOFTNPU_LEVEL_END
#endif
