// SPDX-License-Identifier: Apache-2.0
// The upsample gradient of four volumes (D, H, W of one n and c) side by side, where their rows are
// too short for a register. The sums have the order of sums.h.
#pragma once

#include <cstdint>

#include "kernels/upsample_nearest3d_backward.h"
#include "loops/box_totals.h"
#include "loops/boxes.h"
#include "loops/level.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

template <class T>
class UpsampleVolumes {
  static_assert(kVolumesTogether == kQuad);

 public:
  explicit UpsampleVolumes(const UpsampleNearest3dBackwardTask& task) : task_(task) {}

  bool apply() const { return task_.is_narrow() && !spreads() && !fills_registers(); }

  // From gradOut's volumes to gradInput's.
  void total(const T* const (&from)[kQuad], T* const (&to)[kQuad]) const {
    const UpsampleAxis &d = task_.d, &h = task_.h, &w = task_.w;
    const bool rows_touch = w.in_stride == 1 && h.in_stride == w.in;
    for (int64_t i = 0; i < d.in; ++i) {
      const int64_t z = d.start[i], planes = d.start[i + 1] - z;
      if (planes == 0 && rows_touch) {
        for (T* volume : to) fill_short(h.in * w.in, volume + i * d.in_stride);
        continue;
      }
      for (int64_t j = 0; j < h.in; ++j) {
        const int64_t y = h.start[j], rows = h.start[j + 1] - y;
        const int64_t first = z * d.out_stride + y * h.out_stride;
        const int64_t place = i * d.in_stride + j * h.in_stride;
        if ((planes == 0 || rows == 0) && w.in_stride == 1) {
          for (T* volume : to) fill_short(w.in, volume + place);
          continue;
        }
        for (int64_t k = 0; k < w.in; ++k) {
          const int64_t x = w.start[k], length = w.start[k + 1] - x;
          QuadSum<T> sum{};
          if (planes > 0 && rows > 0 && length > 0) {
            sum = column(from, first + x * w.out_stride, rows, planes);
            for (int64_t n = 1; n < length; ++n)
              sum.add(column(from, first + (x + n) * w.out_stride, rows, planes));
          }
          put(sum.total(), to, place + k * w.in_stride);
        }
      }
    }
  }

 private:
  // Whether rows are made in registers as they are, with zeros between their totals: 0.35 to 1 of
  // the time from three elements on, up to twice the time with fewer. Boxes of more than two rows
  // are summed first: 1 to 4 times the time, but for 16-bit rows that fill a register.
  bool spreads() const {
#ifdef SOFTNPU_SPREAD_TOTALS
    const int64_t span = task_.w.start.back();
    if (task_.w.places.empty() || span < 3) return false;
    return !has_large_boxes() || (sizeof(T) == 2 && span >= kQuad);
#else
    return false;
#endif
  }

  // Whether rows are summed in registers as they are, and their ranges picked from there: small
  // boxes take 0.65 to 0.95 of the time, of DOUBLE and in small planes up to 2 times as long.
  bool fills_registers() const {
#ifdef SOFTNPU_PICKS_QUADS
    constexpr int64_t kFewRows = 8;
    const UpsampleAxis& w = task_.w;
    if (task_.has_long_ranges()) return false;
    if (has_large_boxes() || task_.h.in < kFewRows) return false;
    if (sizeof(T) == 2) return w.start.back() >= kQuad && w.in > 1;
    return sizeof(T) == sizeof(float) && w.in >= kQuad;
#else
    return false;
#endif
  }

  // Of more rows or planes than are summed in registers as they are.
  bool has_large_boxes() const { return task_.d.longest > 2 || task_.h.longest > 2; }

  // The sum of a box's elements that are one behind the other along x.
  SOFTNPU_INLINE QuadSum<T> column(const T* const (&from)[kQuad], int64_t at, int64_t rows,
                                   int64_t planes) const {
    const int64_t sy = task_.h.out_stride, sz = task_.d.out_stride;
    QuadSum<T> sum{get(from, at), Quad{}};
    for_other_rows(rows, sy, planes, sz,
                   [&](int64_t row) SOFTNPU_INLINED { sum.add(get(from, at + row)); });
    return sum;
  }

  static SOFTNPU_INLINE Quad get(const T* const (&from)[kQuad], int64_t at) {
    return make_quad(from[0][at], from[1][at], from[2][at], from[3][at]);
  }
  static SOFTNPU_INLINE void put(Quad totals, T* const (&to)[kQuad], int64_t at) {
    T elements[kQuad];
    store_quad(totals, elements);
    for (int k = 0; k < kQuad; ++k) to[k][at] = elements[k];
  }

  const UpsampleNearest3dBackwardTask& task_;
};

SOFTNPU_LEVEL_END
#endif
