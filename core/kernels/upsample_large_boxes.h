// SPDX-License-Identifier: Apache-2.0
// Rows of the upsample gradient whose boxes have more than two rows or planes, channels outside.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/machine.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_nearest3d_backward.h"
#include "kernels/upsample_scratch.h"
#include "loops/exact_rows.h"
#include "loops/lane_totals.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Everywhere, `from` is where the piece of row 0 begins, and the box's planes are those that
// `boxes` took last.
template <class T>
class UpsampleLargeBoxes {
 public:
  UpsampleLargeBoxes(const UpsampleNearest3dBackwardTask& task, const UpsampleScratch<T>& scratch,
                     UpsampleBoxes<T>& boxes)
      : task_(task), staged_(scratch.staged), boxes_(boxes) {}

  // Whether total_rows() makes all rows.
  bool total_all_rows() const { return is_exact() || suits_lanes(task_.w.in); }

  // A tile of rows h … h + count of one channel. False where there is no such way.
  __attribute__((noinline)) bool total_rows(const T* from, size_t tile, int64_t h, int64_t count,
                                            T* out) {
    const UpsampleAxis::Tile piece = task_.w.tile(tile);
    if (is_exact())
      total_exactly(from, tile, h, count, out);
    else if (suits_lanes(piece.n))
      for_rows(h, count, piece.n, out, [&](T* to) { total_lanes_of(from, piece.n, to); });
    else
      return false;
    return true;
  }

  // A tile of the row of boxes taken last, nv channels beside each other. False as above.
  __attribute__((noinline)) bool total_positions([[maybe_unused]] const T* from,
                                                 [[maybe_unused]] size_t tile,
                                                 [[maybe_unused]] int64_t nv,
                                                 [[maybe_unused]] T* out) const {
#ifdef SOFTNPU_EXACT_ROWS
    if constexpr (kSumsExactly<T, 2>) {
      const UpsampleAxis& w = task_.w;
      const UpsampleAxis::Tile piece = w.tile(tile);
      // Of float32 there is room for twice as many as of float64.
      if (nv < kLanes || w.out_stride != nv || piece.span * nv > 2 * kUpsampleTile) return false;
      const ExactRow<T> row = row_of(from + piece.x * nv, 0);
      row.make_by_rows(piece.span * nv, boxes_.ahead());
      total_position_ranges(row, w.start.data() + piece.w, piece.n, nv, out);
      return true;
    }
#endif
    return false;
  }

 private:
  template <class F>
  void for_rows(int64_t h, int64_t count, int64_t n, T* out, const F& f) {
    for (int64_t r = 0; r < count; ++r, out += n)
      boxes_.take_rows(h + r) ? f(out) : fill_zero(n, out);
  }

  // Whether ranges of w are one element each, and rows of n fill a register.
  bool suits_lanes([[maybe_unused]] int64_t n) const {
#ifdef SOFTNPU_LANE_TOTALS
    const Ahead& ahead = boxes_.ahead();
    if (task_.w.factor != 1 || n < kFewestLanes<T>) return false;
    // DOUBLE, four at a time: from memory 0.4 to 1 of the time, from a cache up to 1.3 times.
    if (kIsCompensated<T> && !kHasWide && !ahead.into_second) return false;
    // 16-bit elements that fill no steps: up to 1.3 times.
    if (sizeof(T) == 2 && !kHasWide && !fills_steps<T>(n)) return false;
    // Not measured from memory on Intel's machines; on a Zen 4 0.6 to 0.95 of the time.
    return sizeof(T) == 2 || !ahead.any() || !machine().is_intel;
#else
    return false;
#endif
  }
  void total_lanes_of([[maybe_unused]] const T* from, [[maybe_unused]] int64_t n,
                      [[maybe_unused]] T* out) const {
#ifdef SOFTNPU_LANE_TOTALS
    const Ahead& ahead = boxes_.ahead();
    n < kLanes ? total_few_lanes(boxes_.first(from), boxes_.extent(), 1, n, ahead, out)
               : total_lanes(boxes_.first(from), boxes_.extent(), kOneRange, 1, n, ahead, out);
#endif
  }

  // Whether elements have 16 bits, and those of w are single or picked from registers.
  bool is_exact() const {
#ifdef SOFTNPU_EXACT_ROWS
    return kSumsExactly<T, 2> && (task_.w.factor == 1 || !task_.w.sixteens.empty());
#else
    return false;
#endif
  }
  void total_exactly([[maybe_unused]] const T* from, [[maybe_unused]] size_t tile,
                     [[maybe_unused]] int64_t h, [[maybe_unused]] int64_t count,
                     [[maybe_unused]] T* out) {
#ifdef SOFTNPU_EXACT_ROWS
    if constexpr (kSumsExactly<T, 2>) {
      const UpsampleAxis& w = task_.w;
      const UpsampleAxis::Tile piece = w.tile(tile);
      const Ahead ahead = boxes_.ahead();
      if (w.factor == 1)
        return for_rows(h, count, piece.n, out,
                        [&](T* to) { total_single_columns(row_of(from, 0), piece.n, ahead, to); });
      // One row's sums are read while the next one's are made: vectors of two stores each have to
      // wait until these have left the core.
      ExactRow<T> rows[2];
      T* waiting = nullptr;
      int made = 0;
      const auto total_waiting = [&] {
        if (waiting != nullptr)
          total_short_groups(rows[made], w.sixteens.data() + w.grouped[tile], piece.n,
                             NothingAhead{}, waiting);
      };
      for_rows(h, count, piece.n, out, [&](T* to) {
        rows[1 - made] = row_of(from, 1 - made);
        rows[1 - made].make(piece.span, ahead);
        total_waiting();
        made = 1 - made;
        waiting = to;
      });
      total_waiting();
    }
#endif
  }
#ifdef SOFTNPU_EXACT_ROWS
  // The box taken last, with room for its sums number k.
  ExactRow<T> row_of(const T* from, int k) const {
    const BoxExtent box = boxes_.extent();
    return {boxes_.first(from), box.rows,          box.sy, box.planes, box.sz,
            staged_[2 * k],     staged_[2 * k + 1]};
  }
#endif

  const UpsampleNearest3dBackwardTask& task_;
  typename UpsampleScratch<T>::Stage* const (&staged_)[UpsampleScratch<T>::kBatch];
  UpsampleBoxes<T>& boxes_;
};

SOFTNPU_LEVEL_END
