// SPDX-License-Identifier: Apache-2.0
// Gathers strided rows into contiguous ones, and scatters them back, as raw bits.
#pragma once

#include <cstdint>

#include "loops/bits.h"
#include "loops/convert.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

template <class T>
void gather_row(const T* in, int64_t stride, int64_t n, T* out) {
  int64_t i = 0;
#ifdef SOFTNPU_LANES
  // The last elements are left out, so that nothing behind them is read.
  if constexpr (kHasLanes<T>)
    for (; stride == 2 && i + kLanes < n; i += kLanes) copy_even(in + i * 2, out + i);
#endif
  copy_spaced(in + i * stride, stride, n - i, out + i, 1);
}

// Stores the same element n times.
template <class T>
void repeat_element(T value, int64_t n, T* out) {
  constexpr int64_t kLine = 64 / sizeof(T);
  T line[kLine];
  for (T& each : line) each = value;
  const int64_t lines = n / kLine;
  for (int64_t i = 0; i < lines; ++i) __builtin_memcpy(out + i * kLine, line, sizeof line);
  for (int64_t i = lines * kLine; i < n; ++i) out[i] = value;
}

template <class T>
void scatter_row(const T* in, int64_t n, T* out, int64_t stride) {
  int64_t i = 0;
#ifdef SOFTNPU_STORES_EVEN
  if constexpr (kHasLanes<T>)
    for (; stride == 2 && i + kLanes <= n; i += kLanes) spread_even(in + i, out + i * 2);
#endif
  copy_spaced(in + i, 1, n - i, out + i * stride, stride);
}

SOFTNPU_LEVEL_END
