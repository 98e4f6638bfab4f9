// SPDX-License-Identifier: Apache-2.0
// The vectors of lanes.h for 64-bit Arm, whose baseline has all needed instructions.
#pragma once

#include <arm_neon.h>

#include "loops/level.h"
#include "loops/storage.h"

SOFTNPU_LEVEL_BEGIN

constexpr int64_t kLanes = 4;
// A vector type of the compiler, as on x86, because clang then supports `?:` on it like gcc.
using Lanes = float __attribute__((vector_size(16)));

template <class V>
SOFTNPU_INLINE V splat(float value);
template <>
SOFTNPU_INLINE Lanes splat<Lanes>(float value) {
  return (Lanes)vdupq_n_f32(value);
}
template <class Mask>
SOFTNPU_INLINE bool any(Mask mask) {
  return vmaxvq_u32((uint32x4_t)mask) != 0;
}
SOFTNPU_INLINE Lanes fused(Lanes a, Lanes b, Lanes c) {
  return (Lanes)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
SOFTNPU_INLINE Lanes look_up(const float* table, Lanes shifted) {
  const uint32x4_t entry = vandq_u32((uint32x4_t)shifted, vdupq_n_u32(15));
  const uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), entry, 0x04040404);
  const uint8x16x4_t all = vld1q_u8_x4(reinterpret_cast<const uint8_t*>(table));
  return (Lanes)vqtbl4q_u8(all, (uint8x16_t)bytes);
}
SOFTNPU_INLINE Lanes load_lanes(const float* in) { return (Lanes)vld1q_f32(in); }
SOFTNPU_INLINE Lanes load_lanes(const f16* in) {
  return (Lanes)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&in->bits)));
}
SOFTNPU_INLINE Lanes load_lanes(const bf16* in) {
  return (Lanes)vshll_n_u16(vld1_u16(&in->bits), 16);
}
// Every second element. Reads all 2 · kLanes elements.
template <class T>
SOFTNPU_INLINE uint16x4_t even_words(const T* in) {
  return vld2_u16(&in->bits).val[0];
}
SOFTNPU_INLINE void copy_even(const float* in, float* out) { vst1q_f32(out, vld2q_f32(in).val[0]); }
template <class T>
SOFTNPU_INLINE void copy_even(const T* in, T* out) {
  vst1_u16(&out->bits, even_words(in));
}
SOFTNPU_INLINE void store_lanes(Lanes v, float* out) { vst1q_f32(out, (float32x4_t)v); }
SOFTNPU_INLINE void store_lanes(Lanes v, f16* out) {
  vst1_u16(&out->bits, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v)));
}
SOFTNPU_INLINE void store_lanes(Lanes v, bf16* out) {
  const uint32x4_t bits = (uint32x4_t)v;
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t sum = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd);
  vst1_u16(&out->bits, vshrn_n_u32(sum, 16));
}

// As in transpose.h, in two rounds, which interleave floats, then pairs of floats.
template <class Load, class Store>
SOFTNPU_INLINE void transpose_registers(const Load& load, const Store& store) {
  float32x4_t r[4];
  float64x2_t even[2], odd[2];
  for (int i = 0; i < 4; ++i) r[i] = (float32x4_t)load(i);
  for (int i = 0; i < 2; ++i) {
    even[i] = vreinterpretq_f64_f32(vtrn1q_f32(r[2 * i], r[2 * i + 1]));
    odd[i] = vreinterpretq_f64_f32(vtrn2q_f32(r[2 * i], r[2 * i + 1]));
  }
  store(0, (Lanes)vreinterpretq_f32_f64(vtrn1q_f64(even[0], even[1])));
  store(1, (Lanes)vreinterpretq_f32_f64(vtrn1q_f64(odd[0], odd[1])));
  store(2, (Lanes)vreinterpretq_f32_f64(vtrn2q_f64(even[0], even[1])));
  store(3, (Lanes)vreinterpretq_f32_f64(vtrn2q_f64(odd[0], odd[1])));
}

SOFTNPU_LEVEL_END
