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

// Sixteen sums of float32 or 16-bit elements. These are widened together, which takes half as long
// as four at a time.
template <class T>
struct LaneSum {
  static constexpr int64_t kCount = kLanes;
  Octet low, high;

  SOFTNPU_INLINE explicit LaneSum(const T* in) {
    const Lanes v = load_lanes(in);
    low = (Octet)_mm512_cvtps_pd(_mm512_castps512_ps256(v));
    high = (Octet)_mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
  }
  SOFTNPU_INLINE void add(const LaneSum& other) {
    low = other.low + low;
    high = other.high + high;
  }
  SOFTNPU_INLINE void store(T* out) const {
    const __m256 a = _mm512_cvtpd_ps((__m512d)one_nan(low));
    const __m256 b = _mm512_cvtpd_ps((__m512d)one_nan(high));
    store_lanes(_mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1), out);
  }
};

// Eight of DOUBLE.
template <>
struct LaneSum<double> {
  static constexpr int64_t kCount = kOctet;
  Sum<true, Octet> sum;

  SOFTNPU_INLINE explicit LaneSum(const double* in) : sum{(Octet)_mm512_loadu_pd(in), Octet{}} {}
  SOFTNPU_INLINE void add(const LaneSum& other) { sum.add(other.sum); }
  SOFTNPU_INLINE void store(double* out) const { _mm512_storeu_pd(out, (__m512d)sum.total()); }
};

// A box: how many elements along y, z and x, none of them 0, and how far apart.
struct BoxExtent {
  int64_t rows, sy, planes, sz, length, sx;
};

// out[v] = the total of the box that begins at first[v], for nv channels, kCount or more. What
// lies `ahead` of each is prefetched.
template <class T>
void total_lanes(const T* first, const BoxExtent& box, int64_t nv, Ahead ahead, T* out) {
  constexpr int64_t kLine = 64 / sizeof(T);
  const auto column = [&](const T* in, bool prefetches) SOFTNPU_INLINED {
    if (prefetches) prefetch(in, ahead);
    LaneSum<T> sum(in);
    for_other_rows(box.rows, box.sy, box.planes, box.sz, [&](int64_t at) SOFTNPU_INLINED {
      if (prefetches) prefetch(in + at, ahead);
      sum.add(LaneSum<T>(in + at));
    });
    return sum;
  };
  for_steps<LaneSum<T>::kCount>(0, nv, [&](int64_t v) SOFTNPU_INLINED {
    const bool prefetches = ahead.any() && v % kLine == 0;
    LaneSum<T> total = column(first + v, prefetches);
    for (int64_t x = 1; x < box.length; ++x) total.add(column(first + v + x * box.sx, prefetches));
    total.store(out + v);
  });
}

SOFTNPU_LEVEL_END
#endif
