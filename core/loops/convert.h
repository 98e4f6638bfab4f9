// SPDX-License-Identifier: Apache-2.0
// Reading elements of any type into a tile, and writing a tile out with one rounding. The tile is
// float, or double for INT32, which float cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "loops/lanes.h"
#include "loops/level.h"
#include "loops/spaced.h"
#include "loops/storage.h"

SOFTNPU_LEVEL_BEGIN

// Rounds toward zero and saturates. NaN does not occur: integers go in.
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
SOFTNPU_INLINE void narrow(float v, int8_t& out) { out = saturate<int8_t>(v, -128.0f, 127.0f); }
SOFTNPU_INLINE void narrow(int16_t v, int8_t& out) {
  out = saturate<int8_t, int16_t>(v, -128, 127);
}
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
// From memory to a tile, or back.
template <class From, class To>
SOFTNPU_INLINE void convert_lanes(const From* in, int64_t n, To* out) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_lanes(load_lanes(in + i), out + i);
  if (i < n) store_some(load_some(in + i, n - i), out + i, n - i);
}
#endif

template <class T, class Stage>
void load_dense(const T* in, int64_t n, Stage* out) {
#ifdef SOFTNPU_LANES
  if constexpr (kHasLanes<T> && std::is_same_v<Stage, float>) return convert_lanes(in, n, out);
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

// Elements that do not follow each other are converted together, so many at a time: selu with 64K
// INT8 and every second one written, one thread, 255 -> 24 us. What gets wider would take 1.15
// times as long to write.
constexpr int64_t kSpacedPiece = 64;

// The three ways that a row of an operand lies in memory. `stride` is in elements.
template <class T, class Stage>
void load_row(const std::byte* from, int64_t stride, int64_t n, Stage* out) {
  const T* in = reinterpret_cast<const T*>(from);
  if (stride == 1) return load_dense(in, n, out);
  if (stride == 0) {
    const Stage value = widen(*in);
    for (int64_t i = 0; i < n; ++i) out[i] = value;
    return;
  }
  int64_t i = 0;
#ifdef SOFTNPU_LANES
  // Every second element, as a real or an imaginary part is: twice as fast as one by one. The last
  // elements are left, so that nothing behind them is read.
  if constexpr (kHasLanes<T>)
    if (stride == 2)
      for (; i + kLanes < n; i += kLanes) store_lanes(load_even_lanes(in + i * 2), out + i);
#endif
  if constexpr (std::is_same_v<T, Stage>)
    return copy_spaced(in + i * stride, stride, n - i, out + i, 1);
  for (int64_t count; i < n; i += count) {
    T held[kSpacedPiece];
    count = least(n - i, kSpacedPiece);
    copy_spaced(in + i * stride, stride, count, held, 1);
    load_dense(held, count, out + i);
  }
}

template <class T, class Stage>
void store_row(const Stage* in, int64_t stride, int64_t n, std::byte* to) {
  T* out = reinterpret_cast<T*>(to);
  if (stride == 1) return store_dense(in, n, out);
  int64_t i = 0;
#ifdef SOFTNPU_STORES_EVEN
  if constexpr (kHasLanes<T> && std::is_same_v<Stage, float>)
    if (stride == 2)
      for (; i + kLanes <= n; i += kLanes) store_even_lanes(load_lanes(in + i), out + i * 2);
#endif
  if constexpr (std::is_same_v<T, Stage>)
    return copy_spaced(in + i, 1, n - i, out + i * stride, stride);
  if constexpr (sizeof(T) > sizeof(Stage)) {
    for (; i < n; ++i) narrow(in[i], out[i * stride]);
    return;
  }
  for (int64_t count; i < n; i += count) {
    T held[kSpacedPiece];
    count = least(n - i, kSpacedPiece);
    store_dense(in + i, count, held);
    copy_spaced(held, 1, count, out + i * stride, stride);
  }
}

template <class Stage>
using Writer = void (*)(const Stage*, int64_t, int64_t, std::byte*);

inline Writer<float> writer(DType type, float) {
  switch (type) {
    case DType::f16:
      return store_row<f16, float>;
    case DType::bf16:
      return store_row<bf16, float>;
    case DType::f64:
      return store_row<double, float>;
    case DType::c64:
      return store_row<Complex<float>, float>;
    case DType::c128:
      return store_row<Complex<double>, float>;
    case DType::i8:
      return store_row<int8_t, float>;
    default:
      return store_row<float, float>;
  }
}
inline Writer<double> writer(DType, double) { return store_row<int32_t, double>; }

SOFTNPU_LEVEL_END
