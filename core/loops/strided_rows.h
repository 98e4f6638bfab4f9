// SPDX-License-Identifier: Apache-2.0
// Rows whose elements do not follow each other, made dense or the other way around, bit by bit.
#pragma once

#include <cstdint>

#include "loops/lanes.h"
#include "loops/level.h"
#include "loops/prefetch.h"

#ifdef SOFTNPU_LANES
SOFTNPU_LEVEL_BEGIN

// What comes `ahead` elements later is prefetched, of rows that are in memory: up to twice as fast.
template <class T>
void gather_row(const T* in, int64_t stride, int64_t n, Ahead ahead, T* out) {
  constexpr int64_t kLine = 64 / sizeof(T);
  const Ahead later{2 * ahead.distance, ahead.into_second};
  int64_t i = 0;
  // The last elements are left, so that nothing behind them is read.
  if (stride == 2)
    for (; i + kLanes < n; i += kLanes) {
      if (later.any())
        for (int64_t at = 0; at < 2 * kLanes; at += kLine) prefetch(in + i * 2 + at, later);
      copy_even(in + i * 2, out + i);
    }
  for (; i < n; ++i) out[i] = in[i * stride];
}

// The same element n times.
template <class T>
void repeat_element(T value, int64_t n, T* out) {
  constexpr int64_t kLine = 64 / sizeof(T);
  T line[kLine];
  for (T& each : line) each = value;
  const int64_t lines = n / kLine;
  for (int64_t i = 0; i < lines; ++i) __builtin_memcpy(out + i * kLine, line, sizeof line);
  for (int64_t i = lines * kLine; i < n; ++i) out[i] = value;
}

// What is written 1024 elements later is prefetched on request, with what lies between: see
// ElementwiseLayout::result_ahead.
template <class T>
void scatter_row(const T* in, int64_t n, T* out, int64_t stride, [[maybe_unused]] bool ahead) {
  int64_t i = 0;
#ifdef SOFTNPU_STORES_EVEN
  constexpr int64_t kAhead = 1024, kLine = 64 / sizeof(T);
  if (stride == 2)
    for (; i + kLanes <= n; i += kLanes) {
      if (ahead)
        for (int64_t at = 0; at < 2 * kLanes; at += kLine) prefetch(out, (i + kAhead) * 2 + at);
      spread_even(in + i, out + i * 2);
    }
#endif
  for (; i < n; ++i) out[i * stride] = in[i];
}

SOFTNPU_LEVEL_END
#endif
