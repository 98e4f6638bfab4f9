// SPDX-License-Identifier: Apache-2.0
// Rows of the upsample gradient where no range of w is longer than one: the totals of boxes go to
// their places, with zeros between them, sixteen places at a time. The sums have the order of
// sums.h.
#pragma once

#include <bit>

#include "loops/boxes.h"
#include "loops/short_groups.h"

#ifdef SOFTNPU_OCTETS
#define SOFTNPU_SPREAD_TOTALS 1
SOFTNPU_LEVEL_BEGIN

static_assert(loops::SixteenPlaces::kPlaces == kLanes && kLanes == 2 * kOctet);

// The totals of the first `count` columns from x on, kLanes at most, rounded to float32.
template <int kY, int kZ, class T>
SOFTNPU_INLINE Lanes total_some_lanes(const Boxes<kY, kZ, T>& boxes, int64_t x, int64_t count) {
  const int64_t low = least(count, kOctet);
  const __m256 a = _mm512_cvtpd_ps((__m512d)boxes.sum_some(x, low).total());
  if (low == count) return _mm512_castps256_ps512(a);
  const __m256 b = _mm512_cvtpd_ps((__m512d)boxes.sum_some(x + low, count - low).total());
  return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
}

// The elements behind the first `count`.
SOFTNPU_INLINE Octet without(Octet v, int64_t count) {
  return (Octet)_mm512_maskz_compress_pd(static_cast<__mmask8>(~first_octet(count)), (__m512d)v);
}
// To the places of n that are present.
SOFTNPU_INLINE void spread(Octet totals, unsigned present, int64_t n, double* out) {
  store_some_octet((Octet)_mm512_maskz_expand_pd(static_cast<__mmask8>(present), (__m512d)totals),
                   out, n);
}

// One row of n totals.
template <int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_short_groups(const Boxes<kY, kZ, T> boxes,
                                       const loops::SixteenPlaces* groups, int64_t n,
                                       const Later& later, T* out) {
  for (int64_t i = 0; i < n; i += kLanes, ++groups) {
    const int64_t x = groups->first, left = n - i;
    later.some(x, kLanes);
    const unsigned present = groups->present;
    const int64_t count = std::popcount(present);
    if constexpr (kIsCompensated<T>) {
      const int64_t low = std::popcount(present & 0xFF);
      Octet totals = boxes.sum_some(x, count <= kOctet ? count : low).total();
      spread(totals, present & 0xFF, least(left, kOctet), out + i);
      if (left <= kOctet) continue;
      totals =
          count <= kOctet ? without(totals, low) : boxes.sum_some(x + low, count - low).total();
      spread(totals, present >> 8, least(left - kOctet, kOctet), out + i + kOctet);
    } else {
      Lanes totals;
      if constexpr (kSumsExactly<T, kY * kZ>) {
        const ExactSum sum = boxes.exact_sum(x, count);
        totals = sum.rounds_to_same<T>() ? sum.value : total_some_lanes(boxes, x, count);
      } else {
        totals = total_some_lanes(boxes, x, count);
      }
      totals = _mm512_maskz_expand_ps(static_cast<__mmask16>(present), totals);
      left >= kLanes ? store_lanes(totals, out + i) : store_some(totals, out + i, left);
    }
  }
}

SOFTNPU_LEVEL_END
#endif
