// SPDX-License-Identifier: Apache-2.0
// Converts elements of any type to float32, and back with one rounding.
#pragma once

#include <cstdint>
#include <type_traits>

#include "loops/lanes.h"
#include "loops/level.h"
#include "loops/storage.h"

SOFTNPU_LEVEL_BEGIN

// Truncates and saturates. The value is never NaN, because the inputs are integers.
template <class T, class Stage>
SOFTNPU_INLINE T saturate(Stage v, Stage low, Stage high) {
  v = v < low ? low : v;
  return static_cast<T>(v > high ? high : v);
}

SOFTNPU_INLINE void narrow(float v, float& out) { out = v; }
SOFTNPU_INLINE void narrow(float v, f16& out) { out.bits = float_to_half(v); }
SOFTNPU_INLINE void narrow(float v, bf16& out) { out.bits = float_to_bfloat(v); }
SOFTNPU_INLINE void narrow(float v, double& out) { out = v; }
SOFTNPU_INLINE void narrow(double v, double& out) { out = v; }
SOFTNPU_INLINE void narrow(float v, Complex<float>& out) { out = {v, 0.0f}; }
SOFTNPU_INLINE void narrow(float v, Complex<double>& out) { out = {v, 0.0}; }
SOFTNPU_INLINE void narrow(double v, int8_t& out) { out = saturate<int8_t>(v, -128.0, 127.0); }
SOFTNPU_INLINE void narrow(double v, int32_t& out) {
  out = saturate<int32_t>(v, -2147483648.0, 2147483647.0);
}

template <class T>
constexpr bool kHasLanes =
#ifdef SOFTNPU_LANES
    std::is_same_v<T, float> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
#else
    false;
#endif

#ifdef SOFTNPU_LANES
template <class From, class To>
SOFTNPU_INLINE void convert_lanes(const From* in, int64_t n, To* out) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_lanes(load_lanes(in + i), out + i);
  if (i < n) store_some(load_some(in + i, n - i), out + i, n - i);
}
#endif

template <class T>
void load_dense(const T* in, int64_t n, float* out) {
#ifdef SOFTNPU_LANES
  if constexpr (kHasLanes<T>) return convert_lanes(in, n, out);
#endif
  for (int64_t i = 0; i < n; ++i) out[i] = widen(in[i]);
}

template <class T, class Stage>
void store_dense(const Stage* in, int64_t n, T* out) {
#ifdef SOFTNPU_LANES
  if constexpr (kHasLanes<T> && std::is_same_v<Stage, float>) return convert_lanes(in, n, out);
#endif
  for (int64_t i = 0; i < n; ++i) narrow(in[i], out[i]);
}

SOFTNPU_LEVEL_END
