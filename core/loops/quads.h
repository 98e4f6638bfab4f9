// SPDX-License-Identifier: Apache-2.0
// Four float64, read from and written to memory of any floating type, for sums. Half the registers'
// width on AVX-512: converting float32 to float64 takes as long there for eight as for twice four,
// and short rows leave less over (1.3 times as fast with rows of 34). Without SOFTNPU_QUADS there
// are none, and plain loops do.
#pragma once

#include <bit>

#include "loops/lanes.h"
#include "loops/short_groups.h"

#if defined(SOFTNPU_LANES) && defined(__AVX2__)
#define SOFTNPU_QUADS 1
SOFTNPU_LEVEL_BEGIN

constexpr int64_t kQuad = 4;
using Quad = double __attribute__((vector_size(32)));
using FloatQuad = float __attribute__((vector_size(16)));

SOFTNPU_INLINE FloatQuad load_float_quad(const float* in) { return (FloatQuad)_mm_loadu_ps(in); }
SOFTNPU_INLINE FloatQuad load_float_quad(const f16* in) {
  return (FloatQuad)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i*)in));
}
SOFTNPU_INLINE FloatQuad load_float_quad(const bf16* in) {
  // Each word becomes the high half of a float.
  const __m128i places = _mm_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7);
  return (FloatQuad)_mm_shuffle_epi8(_mm_loadl_epi64((const __m128i*)in), places);
}
SOFTNPU_INLINE Quad load_quad(const double* in) { return (Quad)_mm256_loadu_pd(in); }
template <class T>
SOFTNPU_INLINE Quad load_quad(const T* in) {
  return (Quad)_mm256_cvtps_pd((__m128)load_float_quad(in));
}
// Of single elements.
SOFTNPU_INLINE Quad make_quad(double a, double b, double c, double d) { return Quad{a, b, c, d}; }
SOFTNPU_INLINE Quad make_quad(float a, float b, float c, float d) {
  return (Quad)_mm256_cvtps_pd((__m128)FloatQuad{a, b, c, d});
}
template <class T>
SOFTNPU_INLINE Quad make_quad(T a, T b, T c, T d) {
  const T elements[] = {a, b, c, d};
  uint64_t bits = 0;  // in a register: behind four stores a load of all has to wait
  for (int i = 3; i >= 0; --i) bits = bits << 16 | std::bit_cast<uint16_t>(elements[i]);
  return load_quad(reinterpret_cast<const T*>(&bits));
}
SOFTNPU_INLINE void store_quad(Quad v, double* out) { _mm256_storeu_pd(out, (__m256d)v); }
SOFTNPU_INLINE void store_quad(Quad v, float* out) {
  _mm_storeu_ps(out, _mm256_cvtpd_ps((__m256d)v));
}

// a + b, and a - b, on the units that multiply. They are idle here, while those that add convert,
// too.
SOFTNPU_INLINE Quad fused_add(Quad a, Quad b) {
  return (Quad)_mm256_fmadd_pd((__m256d)a, _mm256_set1_pd(1.0), (__m256d)b);
}
SOFTNPU_INLINE Quad fused_subtract(Quad a, Quad b) {
  return (Quad)_mm256_fnmadd_pd((__m256d)b, _mm256_set1_pd(1.0), (__m256d)a);
}

// The words that elements of type T are, in the lower half. As those of a whole vector are made:
// four alone are rare.
template <class T>
SOFTNPU_INLINE __m128i to_words(Quad v) {
  const __m128 values = _mm256_cvtpd_ps((__m256d)v);
#if defined(__AVX512F__)
  return _mm256_castsi256_si128(to_words<T>(_mm512_zextps128_ps512(values)));
#else
  return to_words<T>(_mm256_zextps128_ps256(values));
#endif
}
template <class T>
SOFTNPU_INLINE void store_quad(Quad v, T* out) {
  _mm_storel_epi64((__m128i*)out, to_words<T>(v));
}

// a[0], b[0], a[2], b[2]
SOFTNPU_INLINE Quad mix_evens(Quad a, Quad b) {
  return (Quad)_mm256_unpacklo_pd((__m256d)a, (__m256d)b);
}
// a[1], b[1], a[3], b[3]
SOFTNPU_INLINE Quad mix_odds(Quad a, Quad b) {
  return (Quad)_mm256_unpackhi_pd((__m256d)a, (__m256d)b);
}
// v[0], v[2], v[1], v[3], which puts mixed ones in order.
SOFTNPU_INLINE Quad unmix(Quad v) { return (Quad)_mm256_permute4x64_pd((__m256d)v, 0xD8); }

// v[0], 0, v[1], 0, …
SOFTNPU_INLINE void store_apart(Quad v, double* out) {
  const Quad apart = unmix(v), zero = {};
  store_quad(mix_evens(apart, zero), out);
  store_quad(mix_odds(apart, zero), out + kQuad);
}
SOFTNPU_INLINE void store_apart(Quad v, float* out) {
  const __m128 values = _mm256_cvtpd_ps((__m256d)v), zero = _mm_setzero_ps();
  _mm_storeu_ps(out, _mm_unpacklo_ps(values, zero));
  _mm_storeu_ps(out + 4, _mm_unpackhi_ps(values, zero));
}
template <class T>
SOFTNPU_INLINE void store_apart(Quad v, T* out) {
  _mm_storeu_si128((__m128i*)out, _mm_cvtepu16_epi32(to_words<T>(v)));
}

#if defined(__AVX512F__)
struct TwoQuads {
  Quad low, high;
};

// The sums of up to two of the eight elements each, 0 where there are none.
#define SOFTNPU_PICKS_QUADS 1
SOFTNPU_INLINE __m256d pick(const TwoQuads& sums, const int64_t* from, uint8_t present) {
  return _mm256_maskz_permutex2var_pd(present, (__m256d)sums.low,
                                      _mm256_loadu_si256((__m256i*)from), (__m256d)sums.high);
}
SOFTNPU_INLINE Quad add_picked(const TwoQuads& sums, const loops::FourGroups& groups) {
  const __m256d first = pick(sums, groups.first, groups.has_first);
  const __m256d second = pick(sums, groups.second, groups.has_second);
  return (Quad)_mm256_mask_add_pd(first, groups.has_second, first, second);
}
// The two apart; `absent` where there is no second one.
SOFTNPU_INLINE Quad pick_first(const TwoQuads& sums, const loops::FourGroups& groups) {
  return (Quad)pick(sums, groups.first, groups.has_first);
}
SOFTNPU_INLINE Quad pick_second(const TwoQuads& sums, const loops::FourGroups& groups,
                                double absent) {
  return (Quad)_mm256_mask_mov_pd(_mm256_set1_pd(absent), groups.has_second,
                                  pick(sums, groups.second, groups.has_second));
}

// Eight float64 made of FLOAT, for rows of eight and more: the conversions take as long as four at
// a time, all else half. Channels, of which there are seldom a multiple of eight, lose up to a
// fifth with them.
#define SOFTNPU_OCTETS 1
constexpr int64_t kOctet = 8;
using Octet = double __attribute__((vector_size(64)));

SOFTNPU_INLINE Octet load_octet(const float* in) {
  return (Octet)_mm512_cvtps_pd(_mm256_loadu_ps(in));
}
SOFTNPU_INLINE Octet load_octet(const double* in) { return (Octet)_mm512_loadu_pd(in); }
template <class T>
SOFTNPU_INLINE Octet load_octet(const T* in) {
  return (Octet)_mm512_cvtps_pd(widen_eight<T>(_mm_loadu_si128((const __m128i*)in)));
}
SOFTNPU_INLINE void store_octet(Octet v, float* out) {
  _mm256_storeu_ps(out, _mm512_cvtpd_ps((__m512d)v));
}
SOFTNPU_INLINE void store_octet(Octet v, double* out) { _mm512_storeu_pd(out, (__m512d)v); }
// The first `count` elements, kOctet at most; nothing behind them is touched.
SOFTNPU_INLINE __mmask8 first_octet(int64_t count) {
  return static_cast<__mmask8>(first_lanes(count));
}
SOFTNPU_INLINE Octet load_some_octet(const double* in, int64_t count) {
  return (Octet)_mm512_maskz_loadu_pd(first_octet(count), in);
}
template <class T>
SOFTNPU_INLINE Octet load_some_octet(const T* in, int64_t count) {
  return (Octet)_mm512_cvtps_pd(_mm512_castps512_ps256(load_some(in, count)));
}
SOFTNPU_INLINE void store_some_octet(Octet v, double* out, int64_t count) {
  _mm512_mask_storeu_pd(out, first_octet(count), (__m512d)v);
}
template <class T>
SOFTNPU_INLINE void store_some_octet(Octet v, T* out, int64_t count) {
  store_some(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)v)), out, count);
}
// a[0] + a[1], a[2] + a[3], …, b[0] + b[1], …
SOFTNPU_INLINE Octet add_neighbours(Octet a, Octet b) {
  const __m512i evens = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odds = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  return (Octet)_mm512_permutex2var_pd((__m512d)a, evens, (__m512d)b) +
         (Octet)_mm512_permutex2var_pd((__m512d)a, odds, (__m512d)b);
}
SOFTNPU_INLINE Octet fused_add(Octet a, Octet b) {
  return (Octet)_mm512_fmadd_pd((__m512d)a, _mm512_set1_pd(1.0), (__m512d)b);
}
SOFTNPU_INLINE Octet fused_subtract(Octet a, Octet b) {
  return (Octet)_mm512_fnmadd_pd((__m512d)b, _mm512_set1_pd(1.0), (__m512d)a);
}
template <class Mask>
SOFTNPU_INLINE Octet select(Mask mask, Octet a, Octet b) {
  return mask ? a : b;
}
SOFTNPU_INLINE Octet one_nan(Octet v) {
  const __mmask8 is_nan = _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q);
  return (Octet)_mm512_mask_mov_pd((__m512d)v, is_nan, _mm512_set1_pd(__builtin_nan("")));
}
#endif

template <class Mask>
SOFTNPU_INLINE Quad select(Mask mask, Quad a, Quad b) {
  return mask ? a : b;
}
SOFTNPU_INLINE Quad one_nan(Quad v) {
  return select(v == v, v, (Quad)_mm256_set1_pd(__builtin_nan("")));
}

// As wide as the registers are.
#ifdef SOFTNPU_OCTETS
constexpr int64_t kWide = kOctet;
using Wide = Octet;
SOFTNPU_INLINE Lanes to_lanes(Wide a, Wide b) {
  const __m256 low = _mm512_cvtpd_ps((__m512d)a), high = _mm512_cvtpd_ps((__m512d)b);
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
#else
constexpr int64_t kWide = kQuad;
using Wide = Quad;
SOFTNPU_INLINE Lanes to_lanes(Wide a, Wide b) {
  return _mm256_set_m128(_mm256_cvtpd_ps((__m256d)b), _mm256_cvtpd_ps((__m256d)a));
}
#endif
constexpr bool kHasWide = kWide > kQuad;

SOFTNPU_LEVEL_END
#endif
