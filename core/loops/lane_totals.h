// SPDX-License-Identifier: Apache-2.0
// Totals of boxes of any size, for many channels beside each other: from the first element to the
// last in registers. The sums have the order of sums.h.
#pragma once

#include <cstdint>

#include "loops/boxes.h"
#include "loops/prefetch.h"

#ifdef SOFTNPU_OCTETS
#define SOFTNPU_LANE_TOTALS 1
SOFTNPU_LEVEL_BEGIN

// Sums of kCount elements side by side: sixteen, of DOUBLE also eight.
template <class T, int64_t kElements = kLanes>
struct LaneSum {
  static_assert(kElements == kLanes);
  static constexpr int64_t kCount = kElements;
  Octet low, high;

  // Elements of up to four bytes are widened together: 16-bit ones take half as long as four at a
  // time.
  SOFTNPU_INLINE explicit LaneSum(const T* in) {
    const Lanes v = load_lanes(in);
    low = (Octet)_mm512_cvtps_pd(_mm512_castps512_ps256(v));
    high = (Octet)_mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
  }
  SOFTNPU_INLINE void add(const LaneSum& other) {
    low = fused_add(other.low, low);
    high = fused_add(other.high, high);
  }
  SOFTNPU_INLINE void store(T* out) const {
    const __m256 a = _mm512_cvtpd_ps((__m512d)one_nan(low));
    const __m256 b = _mm512_cvtpd_ps((__m512d)one_nan(high));
    store_lanes(_mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1), out);
  }
};

// Two registers do not wait for each other: 0.85 to 0.95 of the time.
template <int64_t kElements>
struct LaneSum<double, kElements> {
  static_assert(kElements % kOctet == 0);
  static constexpr int64_t kCount = kElements;
  static constexpr int64_t kOctets = kElements / kOctet;
  Sum<true, Octet> sums[kOctets];

  SOFTNPU_INLINE explicit LaneSum(const double* in) {
    for (int64_t i = 0; i < kOctets; ++i)
      sums[i] = {(Octet)_mm512_loadu_pd(in + i * kOctet), Octet{}};
  }
  SOFTNPU_INLINE void add(const LaneSum& other) {
    for (int64_t i = 0; i < kOctets; ++i) sums[i].add(other.sums[i]);
  }
  SOFTNPU_INLINE void store(double* out) const {
    for (int64_t i = 0; i < kOctets; ++i)
      _mm512_storeu_pd(out + i * kOctet, (__m512d)sums[i].total());
  }
};

// The fewest that fill a LaneSum.
template <class T>
constexpr int64_t kFewestLanes = sizeof(T) == sizeof(double) ? kOctet : kLanes;

// A box: how many elements along y, z and x, none of them 0, and how far apart.
struct BoxExtent {
  int64_t rows, sy, planes, sz, length, sx;
};

// total_lanes() for Total::kCount channels at a time.
template <class Total, class T>
SOFTNPU_INLINE void total_lanes_by(const T* first, const BoxExtent& box, int64_t nv, Ahead ahead,
                                   T* out) {
  constexpr int64_t kLine = 64 / sizeof(T);
  const auto column = [&](const T* in, bool prefetches) SOFTNPU_INLINED {
    const auto sum_at = [&](const T* at) SOFTNPU_INLINED {
      if (prefetches)
        for (int64_t line = 0; line < Total::kCount; line += kLine) prefetch(at + line, ahead);
      return Total(at);
    };
    Total sum = sum_at(in);
    for_other_rows(box.rows, box.sy, box.planes, box.sz,
                   [&](int64_t at) SOFTNPU_INLINED { sum.add(sum_at(in + at)); });
    return sum;
  };
  for_steps<Total::kCount>(0, nv, [&](int64_t v) SOFTNPU_INLINED {
    const bool prefetches = ahead.any() && (v % kLine == 0 || v + Total::kCount == nv);
    Total total = column(first + v, prefetches);
    for (int64_t x = 1; x < box.length; ++x) total.add(column(first + v + x * box.sx, prefetches));
    total.store(out + v);
  });
}

// out[v] = the total of the box that begins at first[v], for nv channels, kFewestLanes or more.
// What lies `ahead` of each is prefetched.
template <class T>
void total_lanes(const T* first, const BoxExtent& box, int64_t nv, Ahead ahead, T* out) {
  if constexpr (kFewestLanes<T> < kLanes)
    if (nv < kLanes) return total_lanes_by<LaneSum<T, kFewestLanes<T>>>(first, box, nv, ahead, out);
  total_lanes_by<LaneSum<T>>(first, box, nv, ahead, out);
}

SOFTNPU_LEVEL_END
#endif
