// SPDX-License-Identifier: Apache-2.0
// Totals of groups of sums whose lengths differ, through lists of places.
#pragma once

#include "loops/quads.h"
#include "loops/sums.h"

SOFTNPU_LEVEL_BEGIN

// out[i] = the total of a group of up to `most` sums, which `picks` lists: as many rows of n
// positions. Positions beyond a group's length pick a sum of -0, which changes nothing.
template <bool kCompensated, class Stage>
SOFTNPU_INLINE void total_picked_side_by_side(Sums<kCompensated> sums, const int32_t* picks,
                                              int64_t most, int64_t n, Stage* out) {
  for_quads<true>(n, [&]<class V>(int64_t i, V) {
    Sum<kCompensated, V> sum = sums.template at_places<V>(picks + i);
    for (int64_t x = 1; x < most; ++x) sum.add(sums.template at_places<V>(picks + x * n + i));
    store_as(sum.total(), out + i);
  });
}

// The same for long groups.
template <bool kCompensated, class Stage>
__attribute__((noinline)) void total_picked_long(Sums<kCompensated> sums, const int32_t* picks,
                                                 int64_t most, int64_t n, Stage* out) {
  total_picked_side_by_side(sums, picks, most, n, out);
}

// The same for groups of up to kMost.
template <int kMost, bool kCompensated, class Stage>
void total_picked(Sums<kCompensated> sums, const int32_t* picks, int64_t n, Stage* out) {
  // DOUBLE one by one guesses for each whether something was lost: three times as long.
  if constexpr (kCompensated) return total_picked_side_by_side(sums, picks, kMost, n, out);
  for (int64_t i = 0; i < n; ++i) {
    int64_t first = picks[i];
    // One by one. gcc makes vectors of single loads: a scale of 3.3 with 16M elements took 1.2
    // times as long on AVX-512, and as long on AVX2.
    asm("" : "+r"(first));
    Sum<kCompensated> sum = sums.at(first);
    for (int x = 1; x < kMost; ++x) sums.add_to(sum, picks[x * n + i]);
    out[i] = static_cast<Stage>(sum.total());
  }
}

// out[places[x]] = totals[x]. By itself: in a larger function the loop begins anywhere in a line of
// memory, and took up to 1.3 times as long.
template <class Stage>
__attribute__((noinline)) void put_at_places(const Stage* totals, const int32_t* places, int64_t n,
                                             Stage* out) {
  for (int64_t x = 0; x < n; ++x) out[places[x]] = totals[x];
}

#if defined(__AVX512F__)
// total_picked<2>() for float64 sums that follow each other: those of eight groups lie in two
// registers. Sums `nx` and nx + 1 are the 0 of an empty group and the -0 of an absent sum. 3 times
// as fast as one by one.
inline void total_picked_pairs(const double* sums, int64_t nx, const int32_t* picks, int64_t n,
                               float* out) {
  const __m512i limit = _mm512_set1_epi64(nx), room = _mm512_set1_epi64(16);
  for (int64_t i = 0; i < n; i += 8) {
    const int64_t count = least(n - i, 8);
    const auto lanes = static_cast<__mmask8>((1u << count) - 1);
    const __m512i base = _mm512_set1_epi64(picks[i]);
    const __m512d low = _mm512_loadu_pd(sums + picks[i]);
    const __m512d high = _mm512_loadu_pd(sums + picks[i] + 8);
    __mmask8 found = lanes;
    const auto pick = [&](const int32_t* places, double absent) {
      const __m512i place =
          _mm512_maskz_cvtepi32_epi64(lanes, _mm256_maskz_loadu_epi32(lanes, places));
      const __m512i at = _mm512_sub_epi64(place, base);
      const __mmask8 none = _mm512_cmpge_epi64_mask(place, limit);
      found &= none | _mm512_cmplt_epu64_mask(at, room);
      return _mm512_mask_mov_pd(_mm512_maskz_permutex2var_pd(0xFF, low, at, high), none,
                                _mm512_set1_pd(absent));
    };
    const __m512d first = pick(picks + i, 0.0), second = pick(picks + n + i, -0.0);
    if (found != lanes) [[unlikely]] {  // an empty group comes first
      total_picked<2>(Sums<false>{const_cast<double*>(sums), nullptr}, picks, n, out);
      return;
    }
    const __m512d total = _mm512_add_pd(first, second);
    const __mmask8 number = _mm512_cmp_pd_mask(total, total, _CMP_ORD_Q);
    const __m512d one = _mm512_mask_mov_pd(_mm512_set1_pd(__builtin_nan("")), number, total);
    _mm256_mask_storeu_ps(out + i, lanes, _mm512_maskz_cvtpd_ps(0xFF, one));
  }
}
#endif

#ifdef SOFTNPU_OCTETS
// The sums at `places` that are present; others are `absent`.
SOFTNPU_INLINE Octet gather(const double* sums, __m512i places, __mmask8 present, double absent) {
  return (Octet)_mm512_mask_i64gather_pd(_mm512_set1_pd(absent), present, places, sums,
                                         sizeof(double));
}
template <bool kCompensated>
SOFTNPU_INLINE Sum<kCompensated, Octet> gather(Sums<kCompensated> sums, __m512i places,
                                               __mmask8 present, double absent) {
  Sum<kCompensated, Octet> sum{gather(sums.value, places, present, absent), Octet{}};
  if constexpr (kCompensated) sum.lost = gather(sums.lost, places, present, 0.0);
  return sum;
}

// The totals of ranges [start[i], start[i + 1]) of sums, the first one number `first`, without
// lists; how many were made, eight at a time. Half of the time of one by one.
template <bool kCompensated, class Stage>
__attribute__((noinline)) int64_t total_ranges(const int64_t* start, int64_t first,
                                               Sums<kCompensated> sums, int64_t n, Stage* out) {
  const __m512i firsts = _mm512_set1_epi64(first), one = _mm512_set1_epi64(1);
  int64_t i = 0;
  for (; i + kOctet <= n; i += kOctet) {
    __m512i at = _mm512_sub_epi64(_mm512_loadu_si512(start + i), firsts);
    const __m512i end = _mm512_sub_epi64(_mm512_loadu_si512(start + i + 1), firsts);
    __mmask8 present = _mm512_cmplt_epi64_mask(at, end);
    auto sum = gather(sums, at, present, 0.0);
    for (;;) {
      at = _mm512_add_epi64(at, one);
      present = _mm512_cmplt_epi64_mask(at, end);
      if (present == 0) break;
      sum.add(gather(sums, at, present, -0.0));
    }
    store_octet(sum.total(), out + i);
  }
  return i;
}
#endif

SOFTNPU_LEVEL_END
