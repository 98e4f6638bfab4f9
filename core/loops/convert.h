// SPDX-License-Identifier: Apache-2.0
// Reading elements of any type into a tile, and writing a tile out with one rounding. The tile is
// float, or double for INT32, which float cannot hold.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "base/dtype.h"
#include "base/half.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Storage types. The 16-bit floats are told apart by their own types.
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
template <class T>
struct Complex {
  T re, im;
};

SOFTNPU_INLINE float widen(float v) { return v; }
SOFTNPU_INLINE double widen(double v) { return v; }
SOFTNPU_INLINE float widen(f16 v) { return half_to_float(v.bits); }
SOFTNPU_INLINE float widen(bf16 v) { return bfloat_to_float(v.bits); }
SOFTNPU_INLINE float widen(int8_t v) { return v; }
SOFTNPU_INLINE double widen(int32_t v) { return v; }

// Which NaN comes out of an operation depends on the order in which a compiler puts its operands,
// and that differs between the body and the tail of one loop. One quiet NaN stands for all.
SOFTNPU_INLINE float one_nan(float v) { return v == v ? v : __builtin_nanf(""); }
SOFTNPU_INLINE double one_nan(double v) { return v == v ? v : __builtin_nan(""); }

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
SOFTNPU_INLINE void narrow(double v, int32_t& out) {
  out = saturate<int32_t>(v, -2147483648.0, 2147483647.0);
}

template <class T, class Stage>
void load_dense(const T* in, int64_t n, Stage* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = widen(in[i]);
}

template <class T, class Stage>
void store_dense(const Stage* in, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) narrow(in[i], out[i]);
}

// Compilers do not turn these loops into the hardware's half-precision conversions by themselves.
// (The forms with a full mask are the plain instructions; gcc 12 warns of the plain intrinsics.)
#if defined(__AVX512F__)
inline void load_dense(const f16* in, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(out + i,
                     _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256((const __m256i*)(in + i))));
  for (; i < n; ++i) out[i] = widen(in[i]);
}
inline void store_dense(const float* in, int64_t n, f16* out) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256((__m256i*)(out + i), _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(in + i),
                                                                   _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; ++i) narrow(in[i], out[i]);
}
#elif defined(__F16C__)
inline void load_dense(const f16* in, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(in + i))));
  for (; i < n; ++i) out[i] = widen(in[i]);
}
inline void store_dense(const float* in, int64_t n, f16* out) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i*)(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; ++i) narrow(in[i], out[i]);
}
#endif

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
  for (int64_t i = 0; i < n; ++i) out[i] = widen(in[i * stride]);
}

template <class T, class Stage>
void store_row(const Stage* in, int64_t stride, int64_t n, std::byte* to) {
  T* out = reinterpret_cast<T*>(to);
  if (stride == 1) return store_dense(in, n, out);
  for (int64_t i = 0; i < n; ++i) narrow(in[i], out[i * stride]);
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
