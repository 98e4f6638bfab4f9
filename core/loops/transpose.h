// SPDX-License-Identifier: Apache-2.0
// Reading a block that is dense along y into rows that are dense along x, converting on the way.
// Squares are turned around in registers: 3 times as fast as element by element.
#pragma once

#include "loops/convert.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Any part of a block: element by element.
template <class T, class Stage>
void transpose_elements(const T* in, int64_t sx, int64_t nx, int64_t ny, Stage* out, int64_t so) {
  for (int64_t y = 0; y < ny; ++y)
    for (int64_t x = 0; x < nx; ++x) out[y * so + x] = widen(in[x * sx + y]);
}

#if defined(__AVX512F__)
// Turns kLanes vectors around: load(x) gives those along y, store(y, v) takes those along x. Four
// rounds; each interleaves units twice as large: 1, 2, 4, then 8 floats.
template <class Load, class Store>
SOFTNPU_INLINE void turn_square(const Load& load, const Store& store) {
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
SOFTNPU_INLINE void turn_square(const Load& load, const Store& store) {
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

#ifdef SOFTNPU_LANES
template <class T>
SOFTNPU_INLINE void transpose_square(const T* in, int64_t sx, float* out, int64_t so) {
  turn_square([&](int x) { return load_lanes(in + x * sx); },
              [&](int y, Lanes v) { store_lanes(v, out + y * so); });
}

// The edges of a block, where less than a square is left: 5 times as fast as element by element.
template <class From, class To>
void transpose_part(const From* in, int64_t sx, int64_t nx, int64_t ny, To* out, int64_t so) {
  for (int64_t x0 = 0; x0 < nx; x0 += kLanes)
    for (int64_t y0 = 0; y0 < ny; y0 += kLanes) {
      const From* const from = in + x0 * sx + y0;
      To* const to = out + y0 * so + x0;
      const int64_t columns = nx - x0 < kLanes ? nx - x0 : kLanes;
      const int64_t rows = ny - y0 < kLanes ? ny - y0 : kLanes;
      turn_square(
          [&](int x) { return x < columns ? load_some(from + x * sx, rows) : splat<Lanes>(0); },
          [&](int y, Lanes v) {
            if (y < rows) store_some(v, to + y * so, columns);
          });
    }
}

// The squares of a block. Where `kAhead`, those of the block after next along y are asked for: the
// machine does not guess what comes after so many short pieces. 1.3 times as fast from memory,
// slower from a cache.
template <bool kAhead, class T>
void transpose_squares(const T* in, int64_t sx, int64_t nx, int64_t ny, float* out, int64_t so) {
  for (int64_t x = 0; x < nx; x += kLanes)
    for (int64_t y = 0; y < ny; y += kLanes) {
      if constexpr (kAhead)
        for (int64_t i = 0; i < kLanes; ++i)
          __builtin_prefetch(in + (x + i) * sx + y + 2 * ny, 0, 2);
      transpose_square(in + x * sx + y, sx, out + y * so + x, so);
    }
}
#endif

// out[y * nx + x] = in[x * sx + y]. `far` operands are in memory, not in a cache.
template <class T, class Stage>
void load_transposed(const std::byte* from, int64_t sx, int64_t nx, int64_t ny,
                     [[maybe_unused]] bool far, Stage* out) {
  const T* in = reinterpret_cast<const T*>(from);
#ifdef SOFTNPU_LANES
  if constexpr (kHasLanes<T>) {
    const int64_t whole_x = nx / kLanes * kLanes, whole_y = ny / kLanes * kLanes;
    far ? transpose_squares<true>(in, sx, whole_x, whole_y, out, nx)
        : transpose_squares<false>(in, sx, whole_x, whole_y, out, nx);
    if (whole_x < nx)
      transpose_part(in + whole_x * sx, sx, nx - whole_x, whole_y, out + whole_x, nx);
    if (whole_y < ny) transpose_part(in + whole_y, sx, nx, ny - whole_y, out + whole_y * nx, nx);
    return;
  }
#endif
  constexpr int64_t kBlock = 16;
  for (int64_t x = 0; x < nx; x += kBlock)
    transpose_elements(in + x * sx, sx, nx - x < kBlock ? nx - x : kBlock, ny, out + x, nx);
}

SOFTNPU_LEVEL_END
