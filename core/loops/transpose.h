// SPDX-License-Identifier: Apache-2.0
// Transposes blocks from y-contiguous to x-contiguous, as raw bits, in squares that fit the
// registers.
#pragma once

#include <type_traits>

#include "loops/access.h"
#include "loops/lanes.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

#if defined(__AVX512F__)
// Transposes kLanes vectors: load(x) returns a vector along y, store(y, v) stores one along x. Each
// of the four rounds interleaves units twice as large: 1, 2, 4, then 8 floats.
template <class Load, class Store>
SOFTNPU_INLINE void transpose_registers(const Load& load, const Store& store) {
  __m512 r[16], t[16];
  for (int i = 0; i < 16; ++i) r[i] = load(i);
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_maskz_unpacklo_ps(0xFFFF, r[i], r[i + 1]);
    t[i + 1] = _mm512_maskz_unpackhi_ps(0xFFFF, r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      const __m512d a = _mm512_castps_pd(t[i + j]), b = _mm512_castps_pd(t[i + j + 2]);
      r[i + 2 * j] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(0xFF, a, b));
      r[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(0xFF, a, b));
    }
  for (int i = 0; i < 16; i += 8)
    for (int j = 0; j < 4; ++j) {
      t[i + j] = _mm512_maskz_shuffle_f32x4(0xFFFF, r[i + j], r[i + j + 4], 0x88);
      t[i + j + 4] = _mm512_maskz_shuffle_f32x4(0xFFFF, r[i + j], r[i + j + 4], 0xDD);
    }
  for (int j = 0; j < 8; ++j) {
    store(j, _mm512_maskz_shuffle_f32x4(0xFFFF, t[j], t[j + 8], 0x88));
    store(j + 8, _mm512_maskz_shuffle_f32x4(0xFFFF, t[j], t[j + 8], 0xDD));
  }
}
#elif defined(SOFTNPU_LANES) && defined(__AVX2__)
template <class Load, class Store>
SOFTNPU_INLINE void transpose_registers(const Load& load, const Store& store) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = load(i);
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      const __m256d a = _mm256_castps_pd(t[i + j]), b = _mm256_castps_pd(t[i + j + 2]);
      r[i + 2 * j] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
      r[i + 2 * j + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
    }
  for (int j = 0; j < 4; ++j) {
    store(j, _mm256_permute2f128_ps(r[j], r[j + 4], 0x20));
    store(j + 4, _mm256_permute2f128_ps(r[j], r[j + 4], 0x31));
  }
}
#endif

// Blocks are transposed in squares of this side, for every type.
constexpr int64_t kSquareSide = 16;

#if defined(__AVX2__)
// Transposes a square of 16-bit elements: out[y * so + x] = element y of row x, of which load(x,
// half) returns eight. Each of the three rounds interleaves units twice as large.
template <class T, class Load>
SOFTNPU_INLINE void transpose_words(const Load& load, T* out, int64_t so) {
  for (int half = 0; half < 2; ++half, out += 8 * so) {
    __m256i r[8], t[8];
    for (int x = 0; x < 8; ++x)
      r[x] = _mm256_inserti128_si256(_mm256_castsi128_si256(load(x, half)), load(x + 8, half), 1);
    const auto interleave = [](const __m256i* from, __m256i* to) {
      for (int i = 0; i < 4; ++i) {
        to[2 * i] = _mm256_unpacklo_epi16(from[i], from[i + 4]);
        to[2 * i + 1] = _mm256_unpackhi_epi16(from[i], from[i + 4]);
      }
    };
    interleave(r, t);
    interleave(t, r);
    interleave(r, t);
    for (int y = 0; y < 8; ++y) _mm256_storeu_si256((__m256i*)(out + y * so), t[y]);
  }
}
#endif

// out[y * so + x] = in[x * sx + y], as raw bits, for a whole square, or for its first `columns` and
// `rows`. In the latter case, the rest of the square is undefined.
template <bool kWhole, class T>
SOFTNPU_INLINE void transpose_square(const T* in, int64_t sx, int64_t columns, int64_t rows, T* out,
                                     int64_t so) {
#ifdef SOFTNPU_LANES
  if constexpr (std::is_same_v<T, float>) {
    for (int64_t x0 = 0; x0 < kSquareSide; x0 += kLanes)
      for (int64_t y0 = 0; y0 < kSquareSide; y0 += kLanes) {
        const auto load = [&](int x) {
          const T* const at = in + (x0 + x) * sx + y0;
          if (kWhole) return load_lanes(at);
          if (x0 + x >= columns || y0 >= rows) return splat<Lanes>(0);
          return rows - y0 >= kLanes ? load_lanes(at) : load_some(at, rows - y0);
        };
        transpose_registers(load,
                            [&](int y, Lanes v) { store_lanes(v, out + (y0 + y) * so + x0); });
      }
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (std::is_same_v<T, f16>) {
    const auto load = [&](int x, int half) {
      const T* const at = in + x * sx + half * 8;
      if (kWhole) return _mm_loadu_si128((const __m128i*)at);
      return x < columns ? load_some_words(at, rows - half * 8) : _mm_setzero_si128();
    };
    return transpose_words(load, out, so);
  }
#endif
  for (int64_t x = 0; x < columns; ++x)
    for (int64_t y = 0; y < rows; ++y) out[y * so + x] = in[x * sx + y];
}

// The same for nx columns and ny rows; `out` has room for whole squares. Prefetches elements at
// distance `ahead`, unless it is 0.
template <class T>
void transpose_block(const T* in, int64_t sx, int64_t nx, int64_t ny, int64_t ahead, T* out,
                     int64_t so) {
  for (int64_t x = 0; x < nx; x += kSquareSide)
    for (int64_t y = 0; y < ny; y += kSquareSide) {
      const T* const from = in + x * sx + y;
      T* const to = out + y * so + x;
      const int64_t columns = least(nx - x, kSquareSide);
      const int64_t rows = least(ny - y, kSquareSide);
      if (ahead != 0)
        for (int64_t i = 0; i < columns; ++i) prefetch<kSecondCache>(from + i * sx, ahead);
      if (columns == kSquareSide && rows == kSquareSide)
        transpose_square<true>(from, sx, columns, rows, to, so);
      else
        transpose_square<false>(from, sx, columns, rows, to, so);
    }
}

SOFTNPU_LEVEL_END
