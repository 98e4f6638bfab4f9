// SPDX-License-Identifier: Apache-2.0
// Totals of boxes of any size, for many channels beside each other: from the first element to the
// last in registers. The sums have the order of sums.h.
#pragma once

#include <cstdint>

#include "loops/boxes.h"
#include "loops/prefetch.h"

#ifdef SOFTNPU_QUADS
#define SOFTNPU_LANE_TOTALS 1
SOFTNPU_LEVEL_BEGIN

// Sums of kElements side by side: a multiple of kWide, of 16-bit elements of kLanes.
template <class T, int64_t kElements = kLanes>
struct LaneSum {
  static_assert(kElements % (sizeof(T) == 2 ? kLanes : kWide) == 0);
  static constexpr int64_t kCount = kElements;
  static constexpr int64_t kParts = kElements / kWide;
  Wide sums[kParts];

  SOFTNPU_INLINE explicit LaneSum(const T* in) {
    for (int64_t i = 0; i < kParts; ++i) sums[i] = load_as<Wide>(in + i * kWide);
  }
  SOFTNPU_INLINE void add(const LaneSum& other) {
    for (int64_t i = 0; i < kParts; ++i) sums[i] = fused_add(other.sums[i], sums[i]);
  }
  SOFTNPU_INLINE void store(T* out) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      for (int64_t i = 0; i < kParts; ++i) store_as(one_nan(sums[i]), out + i * kWide);
      return;
    }
    for (int64_t i = 0; i < kParts; i += 2)
      store_lanes(to_lanes(one_nan(sums[i]), one_nan(sums[i + 1])), out + i * kWide);
  }
};

// Two registers do not wait for each other: 0.85 to 0.95 of the time.
template <int64_t kElements>
struct LaneSum<double, kElements> {
  static_assert(kElements % kWide == 0);
  static constexpr int64_t kCount = kElements;
  static constexpr int64_t kParts = kElements / kWide;
  Sum<true, Wide> sums[kParts];

  SOFTNPU_INLINE explicit LaneSum(const double* in) {
    for (int64_t i = 0; i < kParts; ++i) sums[i] = {load_as<Wide>(in + i * kWide), Wide{}};
  }
  SOFTNPU_INLINE void add(const LaneSum& other) {
    for (int64_t i = 0; i < kParts; ++i) sums[i].add(other.sums[i]);
  }
  SOFTNPU_INLINE void store(double* out) const {
    for (int64_t i = 0; i < kParts; ++i) store_as(sums[i].total(), out + i * kWide);
  }
};

#ifdef SOFTNPU_OCTETS
// The same of 16-bit elements in float32, while that is exact: a half of the time.
template <class T, int64_t kElements>
struct ExactLanes {
  static constexpr int64_t kCount = kElements, kParts = kElements / kLanes;
  ExactSum sums[kParts];

  SOFTNPU_INLINE explicit ExactLanes(const T* in) {
    for (int64_t i = 0; i < kParts; ++i) sums[i] = ExactSum(load_lanes(in + i * kLanes));
  }
  SOFTNPU_INLINE void add(const ExactLanes& other) {
    for (int64_t i = 0; i < kParts; ++i) sums[i].add(other.sums[i]);
  }
  // Nothing, and false, where it is not exact.
  SOFTNPU_INLINE bool store(T* out) const {
    for (int64_t i = 0; i < kParts; ++i)
      if (!sums[i].template rounds_to_same<T>()) [[unlikely]]
        return false;
    for (int64_t i = 0; i < kParts; ++i) store_lanes(sums[i].value, out + i * kLanes);
    return true;
  }
};
#endif

// The fewest that fill a LaneSum.
template <class T>
constexpr int64_t kFewestLanes = sizeof(T) == 2 ? kLanes : kWide;

// Whether n elements nearly fill steps of so many: to seven eighths.
template <class T>
constexpr bool fills_steps(int64_t n) {
  const int64_t steps = (n + kFewestLanes<T> - 1) / kFewestLanes<T>;
  return 7 * steps * kFewestLanes<T> <= 8 * n;
}

// How many elements are best added up side by side: eight registers.
template <class T>
constexpr int64_t kManyLanes = sizeof(T) == sizeof(double) ? 4 * kWide : 8 * kWide;

// Boxes side by side in a row: how many rows and planes, none of them 0, and how far these and the
// positions of a row are apart.
struct BoxExtent {
  int64_t rows, sy, planes, sz, sx;
};

// The total of a box of `length` positions, for Total::kCount channels.
template <class Total, class T>
SOFTNPU_INLINE auto total_some_lanes(const T* first, const BoxExtent& box, int64_t length,
                                     Ahead ahead, bool prefetches, T* out) {
  constexpr int64_t kLine = 64 / sizeof(T);
  const auto column = [&](const T* in) SOFTNPU_INLINED {
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
  Total total = column(first);
  for (int64_t x = 1; x < length; ++x) total.add(column(first + x * box.sx));
  return total.store(out);
}

// The same in a function of its own, for the few totals that are not exact.
template <int64_t kCount, class T>
__attribute__((noinline, cold)) void total_inexact_lanes(const T* first, const BoxExtent& box,
                                                         int64_t length, T* out) {
  total_some_lanes<LaneSum<T, kCount>>(first, box, length, Ahead{}, false, out);
}

// The same for kCount of nv channels, from channel v on.
template <int64_t kCount, class T>
SOFTNPU_INLINE void total_lanes_at(const T* first, const BoxExtent& box, int64_t length, int64_t v,
                                   int64_t nv, Ahead ahead, T* out) {
  constexpr int64_t kLine = 64 / sizeof(T);
  const bool prefetches = ahead.any() && (v % kLine == 0 || v + kCount == nv);
#ifdef SOFTNPU_OCTETS
  if constexpr (kSumsExactly<T, 2>) {
    using Total = ExactLanes<T, kCount>;
    if (!total_some_lanes<Total>(first + v, box, length, ahead, prefetches, out + v)) [[unlikely]]
      total_inexact_lanes<kCount>(first + v, box, length, out + v);
    return;
  }
#endif
  total_some_lanes<LaneSum<T, kCount>>(first + v, box, length, ahead, prefetches, out + v);
}

// The same for all of nv channels, fewer than kLanes. Part of its caller, where rows are short.
template <class T>
SOFTNPU_INLINE void total_few_lanes(const T* first, const BoxExtent& box, int64_t length,
                                    int64_t nv, Ahead ahead, T* out) {
  constexpr int64_t kFewest = kFewestLanes<T>;
  for_steps<kFewest>(0, nv, [&](int64_t v) SOFTNPU_INLINED {
    total_lanes_at<kFewest>(first, box, length, v, nv, ahead, out);
  });
}

// out[w, v] = the total of the box of positions [start[w], start[w + 1]), for n of these and nv
// channels, kFewestLanes or more. `first` is where position 0 begins. What lies `ahead` of each
// element is prefetched.
template <int kY = 0, int kZ = 0, class T>
void total_lanes(const T* first, const BoxExtent& boxes, const int64_t* start, int64_t n,
                 int64_t nv, Ahead ahead, T* out) {
  constexpr int64_t kMany = kManyLanes<T>, kFewest = kFewestLanes<T>;
  const BoxExtent box{kY ? kY : boxes.rows, boxes.sy, kZ ? kZ : boxes.planes, boxes.sz, boxes.sx};
  for (int64_t w = 0; w < n; ++w, out += nv) {
    const int64_t length = start[w + 1] - start[w];
    if (length == 0) {
      fill_zero(nv, out);
      continue;
    }
    const T* const in = first + start[w] * box.sx;
    if (nv < kLanes) {
      total_few_lanes(in, box, length, nv, ahead, out);
      continue;
    }
    int64_t v = 0;
    for (; nv - v >= kMany; v += kMany) total_lanes_at<kMany>(in, box, length, v, nv, ahead, out);
    // The last ones overlap those before where they do not fit.
    for (; nv - v > kFewest; v += kLanes)
      total_lanes_at<kLanes>(in, box, length, least(v, nv - kLanes), nv, ahead, out);
    if (v < nv) total_lanes_at<kFewest>(in, box, length, nv - kFewest, nv, ahead, out);
  }
}

SOFTNPU_LEVEL_END
#endif
