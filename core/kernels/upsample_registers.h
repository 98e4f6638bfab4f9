// SPDX-License-Identifier: Apache-2.0
// The upsample gradient's steps at once, without leaving the registers, for the scales and layouts
// that come often. Each function says whether it is the way to do it, and has done it then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/machine.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_lanes.h"
#include "kernels/upsample_large_boxes.h"
#include "kernels/upsample_nearest3d_backward.h"
#include "loops/box_totals.h"
#include "loops/lane_totals.h"
#include "loops/level.h"
#include "loops/position_totals.h"

SOFTNPU_LEVEL_BEGIN

// Everywhere, `from` is where gradOut's n and c begin, and the box's planes are those that `boxes`
// took last; its rows, too, but for total_rows().
template <class T>
class UpsampleRegisters {
 public:
  UpsampleRegisters(const UpsampleNearest3dBackwardTask& task, const UpsampleScratch<T>& scratch,
                    UpsampleBoxes<T>& boxes)
      : task_(task), boxes_(boxes), large_(task, scratch, boxes) {}

  // Whether total_rows() makes whole rows whatever they are, but for those of empty planes.
  bool total_all_rows() const {
#ifdef SOFTNPU_QUADS
    const UpsampleAxis& w = task_.w;
    const bool small = task_.d.longest <= 2 && task_.h.longest <= 2;
    if (w.out_stride != 1 || !(small || large_.total_all_rows())) return false;
    if (w.factor == 1 || w.factor == 2) return w.in >= kQuad;
    return (w.halved && w.start.back() >= kQuad) || with_groups([](const auto&) {});
#else
    return false;
#endif
  }

#ifdef SOFTNPU_QUADS
  // A tile of rows h … h + count of one channel: boxes of two rows in two planes at most, or all
  // where ranges along w are one element each.
  __attribute__((noinline)) bool total_rows(const T* from, size_t tile, int64_t h, int64_t count,
                                            T* out) {
    const UpsampleAxis& w = task_.w;
    if (w.out_stride != 1) return false;
    const UpsampleAxis::Tile piece = w.tile(tile);
    const int64_t n = piece.n, span = piece.span;
    from += piece.x;
    if (boxes_.planes() > 2 || task_.h.longest > 2)
      return large_.total_rows(from, tile, h, count, out);
    if (w.factor == 2 && n >= kQuad && task_.h.factor > 0)
      return total_equal_rows(from, n, h, count, out);
    if (w.factor == 1 && n >= kQuad && task_.in_order_ahead != 0 && boxes_.take_rows(h))
      return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
        total_single_rows_in_order(boxes_.template small<kY, kZ>(from), n, h, count,
                                   task_.in_order_ahead, out);
      });
    const BoxRows<T> rows = boxes_.box_rows(from, h, count);
    if (w.factor == 1 && n >= kQuad) {
      boxes_.ahead().any() ? total_single_rows(rows, n, boxes_.ahead(), out)
                           : total_single_rows(rows, n, out);
      return true;
    }
    const Ahead& ahead = boxes_.ahead();
    const BoxRows<T> next = ahead.any() ? boxes_.next_rows(from, h, count) : BoxRows<T>{};
    if (w.factor == 2 && n >= kQuad) {
      ahead.with_cache([&]<int kCache>() { total_doubled_rows<kCache>(rows, next, n, out); });
      return true;
    }
    if (w.halved && span >= kQuad) {
      ahead.with_cache([&]<int kCache>() { total_halved_rows<kCache>(rows, next, n, span, out); });
      return true;
    }
    return total_short_rows(tile, rows, next, out);
  }

  // A tile of a row, channels beside each other.
  bool total_positions(const T* from, size_t tile, int64_t nv, T* out) const {
    const UpsampleAxis& w = task_.w;
    if (!task_.channels_inner) return false;
    if (nv < kQuad) return nv == 3 && total_triples(from, tile, out);
    if (task_.boxes_in_order) return total_positions_in_order(from, tile, nv, out);
    if (w.longest <= 2 && w.factor != 1 && !suit_lanes_better(nv)) {
      const UpsampleAxis::Tile piece = w.tile(tile);
      const bool small = boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
        SOFTNPU_LEVEL::total_positions(boxes_.template small<kY, kZ>(from), w.out_stride,
                                       w.start.data() + piece.w, piece.n, nv, boxes_.ahead(), out);
      });
      if (small) return true;
    }
    return total_other_positions(from, tile, nv, out);
  }
#else
  bool total_rows(const T*, size_t, int64_t, int64_t, T*) const { return false; }
  bool total_positions(const T*, size_t, int64_t, T*) const { return false; }
#endif

 private:
#ifdef SOFTNPU_QUADS
  bool total_equal_rows(const T* from, int64_t n, int64_t h, int64_t count, T* out) {
    if (!boxes_.take_rows(h)) return false;
    if (task_.halves_ahead)
      return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
        total_doubled_and_halves_ahead(boxes_.template small<kY, kZ>(from), n, h, count, task_.h.in,
                                       boxes_.next_planes_of(from), out);
      });
    if (task_.in_order_ahead != 0)
      return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
        total_doubled_in_order(boxes_.template small<kY, kZ>(from), n, h, count,
                               task_.in_order_ahead, out);
      });
    return boxes_.ahead().any() ? total_far_boxes(from, n, count, out)
                                : total_equal_boxes<kNoCache>(from, n, count, out);
  }

  // A function of its own, so that the compiler makes boxes in a cache part of total_rows().
  __attribute__((noinline)) bool total_far_boxes(const T* from, int64_t n, int64_t count,
                                                 T* out) const {
    return boxes_.ahead().into_second ? total_equal_boxes<kSecondCache>(from, n, count, out)
                                      : total_equal_boxes<kFirstCache>(from, n, count, out);
  }

  template <int kCache>
  bool total_equal_boxes(const T* from, int64_t n, int64_t count, T* out) const {
    return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
      total_doubled<kCache>(boxes_.template small<kY, kZ>(from), n, count, boxes_.ahead().distance,
                            out);
    });
  }

  bool total_short_rows([[maybe_unused]] size_t tile, [[maybe_unused]] const BoxRows<T>& rows,
                        [[maybe_unused]] const BoxRows<T>& next, [[maybe_unused]] T* out) const {
#ifdef SOFTNPU_PICKS_QUADS
    const UpsampleAxis& w = task_.w;
    return with_groups([&](const auto& groups) {
      const Ahead& ahead = boxes_.ahead();
      const UpsampleAxis::Tile piece = w.tile(tile);
      const auto* const first = groups.data() + w.grouped[tile];
      // Into the first cache of a Zen 4 all of the next rows; on a Zen 5 that is as slow as
      // nothing, twice the time.
      const bool each = ahead.into_second || machine().is_zen5;
      ahead.with_cache([&]<int kCache>() {
        total_picked_rows<kCache>(rows, next, each ? task_.one_plane_ahead : 0, first, piece.n,
                                  piece.span, out);
      });
    });
#else
    return false;
#endif
  }

  // Calls f(groups) for those that sums of rows are picked with. False where there are none.
  template <class F>
  bool with_groups([[maybe_unused]] const F& f) const {
#ifdef SOFTNPU_PICKS_QUADS
    const UpsampleAxis& w = task_.w;
    const auto with = [&](const auto& groups) {
      if (!groups.empty()) f(groups);
      return !groups.empty();
    };
    if constexpr (kSumsExactly<T, 2>)
      return with(w.sixteens) || with(w.places);
    else
      return with(w.fours) || with(w.places) || with(w.groups);
#else
    return false;
#endif
  }

  // Boxes that are prefetched in the order of memory, all of which are small.
  __attribute__((noinline)) bool total_positions_in_order(const T* from, size_t tile, int64_t nv,
                                                          T* out) const {
    const UpsampleAxis& w = task_.w;
    const UpsampleAxis::Tile piece = w.tile(tile);
    const PositionsInOrder<T> later = boxes_.next_in_order(from);
    return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
      const Boxes<kY, kZ, T> row = boxes_.template small<kY, kZ>(from);
      if (w.factor != 1)
        return total_each_position(row, w.out_stride, w.start.data() + piece.w, piece.n, nv, later,
                                   out);
      const int64_t x = piece.x * nv, n = piece.n * nv;
      total_position(Range<1, kY, kZ, T>{row.from(x), n}, n, later.from(x), out);
    });
  }

  // Apart from total_positions(), which is up to a tenth slower with this in it.
  __attribute__((noinline)) bool total_other_positions(const T* from, size_t tile, int64_t nv,
                                                       T* out) const {
    if (is_row(nv) && !suit_lanes_better(nv)) {
      const UpsampleAxis::Tile piece = task_.w.tile(tile);
      const bool small = boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
        total_row(boxes_.template small<kY, kZ>(from + piece.x * nv), piece.n * nv, boxes_.ahead(),
                  out);
      });
      if (small) return true;
    }
    return total_lane_positions(from, tile, nv, out) || large_.total_positions(from, tile, nv, out);
  }

  // Three channels in rows of three positions and more, dense in both tensors.
  __attribute__((noinline)) bool total_triples(const T* from, size_t tile, T* out) const {
    const UpsampleAxis& w = task_.w;
    const UpsampleAxis::Tile piece = w.tile(tile);
    if (w.out_stride != 3 || w.longest > 2 || piece.span < 3) return false;
    return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
      SOFTNPU_LEVEL::total_triples(boxes_.template small<kY, kZ>(from), w.start.data() + piece.w,
                                   piece.n, boxes_.ahead(), out);
    });
  }

  // Whether positions of nv channels, each of its own, are as one.
  bool is_row(int64_t nv) const { return task_.w.factor == 1 && task_.w.out_stride == nv; }

  bool suit_lanes_better([[maybe_unused]] int64_t nv) const {
#ifdef SOFTNPU_LANE_TOTALS
    return UpsampleLanes<T>(task_, boxes_).suit_better(nv, is_row(nv));
#else
    return false;
#endif
  }

  // Boxes of any size, where there are enough channels.
  bool total_lane_positions([[maybe_unused]] const T* from, [[maybe_unused]] size_t tile,
                            [[maybe_unused]] int64_t nv, [[maybe_unused]] T* out) const {
#ifdef SOFTNPU_LANE_TOTALS
    const UpsampleAxis& w = task_.w;
    const UpsampleAxis::Tile piece = w.tile(tile);
    const int64_t n = piece.span * nv;
    const int64_t side = is_row(nv) ? n : nv;
    if (side < kFewestLanes<T> || !UpsampleLanes<T>(task_, boxes_).suit(n, side)) return false;
    const auto total = [&]<int kY, int kZ>() {
      const T* const first = boxes_.first(from);
      if (is_row(nv))
        total_lanes<kY, kZ>(first + piece.x * nv, boxes_.extent(), kOneRange, 1, n, boxes_.ahead(),
                            out);
      else
        total_lanes<kY, kZ>(first, boxes_.extent(), w.start.data() + piece.w, piece.n, nv,
                            boxes_.ahead(), out);
    };
    if (sizeof(T) == 2 || !boxes_.if_small(total)) total.template operator()<0, 0>();
    return true;
#else
    return false;
#endif
  }
#endif

  const UpsampleNearest3dBackwardTask& task_;
  UpsampleBoxes<T>& boxes_;
  UpsampleLargeBoxes<T> large_;
};

SOFTNPU_LEVEL_END
