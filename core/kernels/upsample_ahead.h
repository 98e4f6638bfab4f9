// SPDX-License-Identifier: Apache-2.0
// What of gradOut the upsample gradient prefetches while it makes rows of gradInput: how far behind
// their boxes it lies.
#pragma once

#include <cstdint>

#include "base/machine.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_nearest3d_backward.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// For tasks that prefetch. The boxes are those of the planes taken last.
template <class T>
class UpsampleAhead {
 public:
  UpsampleAhead(const UpsampleNearest3dBackwardTask& task, const UpsampleBoxes<T>& boxes)
      : task_(task), boxes_(boxes) {}

  // How many of `at_once` rows, whose boxes are `span` positions long, to make together. They are
  // split into groups of one size, so that what is prefetched with one group is all that the next
  // one needs. For rows that are made one by one, elements are prefetched about 8 KB ahead: with a
  // scale of 3.3 and rows of 59 elements from memory, that is 1.5 times as fast as for the next row
  // only. Small boxes of rows that are made together are prefetched at once, each while one is
  // summed: with that scale 0.8 to 0.9 of the time, larger boxes up to 1.1 times as long.
  int64_t plan(int64_t at_once, int64_t span) {
    constexpr int64_t kFew = 4096 / sizeof(T), kLongest = 4;
    const UpsampleAxis &d = task_.d, &h = task_.h;
    if (at_once > 1 && (d.longest > 1 || task_.one_plane))
      at_once = divided(h.in, divided(h.in, at_once));
    const int64_t box = d.longest * h.longest * span * (task_.channels_inner ? task_.channels : 1);
    if (box > 0) rows_ahead_ = divided(kElements, box);
    box_by_box_ = task_.into_second && task_.w.out_stride == 1 && box <= kFew;
    // On a Zen 5 0.7 to 1 of the time, larger ones up to twice, DOUBLE up to 1.2 times.
    if (task_.planes_in_order && sizeof(T) == sizeof(float))
      box_by_box_ = d.longest <= kLongest && h.longest <= kLongest && box <= kFew;
    if (at_once > 1 && at_once < h.in && suit_distances_alike())
      near_rows_ = least(h.in, divided(kElements, h.factor * h.out_stride));
    return at_once;
  }

  // Whether each box of rows that are made together is prefetched by itself.
  bool comes_box_by_box() const { return box_by_box_; }

  // Whether the distance does not depend on how many rows are made together.
  bool comes_with_any_row() const { return near_rows_ != 0; }

  // Whether the machine will have read what comes after `count` rows from row h.
  bool is_foreseen(int64_t h, int64_t count) const {
    const int64_t planes = h + count < task_.h.in ? boxes_.planes() : boxes_.next_planes();
    return planes == 1 && !task_.one_plane;
  }

  // How many of `count` rows from row h have the same distance then.
  int64_t rows_alike(int64_t h, int64_t count) const {
    const int64_t last = task_.h.in - near_rows_;
    return h < last ? least(last - h, count) : count;
  }

  // How far from the box of row h that of the row `count` later is. Where these are all of a plane,
  // and boxes are large, at least as far as for single rows: 0.55 to 1 of the time, for small boxes
  // up to 1.4 times as long, unless they have planes_ahead.
  int64_t distance_of_rows(int64_t h, int64_t count) const {
    const UpsampleAxis& y = task_.h;
    if (task_.one_plane_ahead != 0) return task_.one_plane_ahead;
    const int64_t planes = boxes_.planes() * task_.d.out_stride;
    const bool far = boxes_.planes() > 2 || y.longest > 2 || task_.planes_ahead;
    if (count == y.in && planes > 0 && far) return planes * divided(kElements, planes);
    return distance_between(h, h + count);
  }
  // The same where it does not depend on `count`.
  int64_t distance_of_any_row(int64_t h) const { return distance_between(h, h + near_rows_); }

  // How far from a tile's box in row h the one is that is made next.
  int64_t distance_of_tile(int64_t h, const UpsampleAxis::Tile& tile) const {
    const UpsampleAxis& w = task_.w;
    if (task_.one_plane_ahead != 0) return task_.one_plane_ahead;
    if (tile.w + tile.n < w.in) return tile.span * w.out_stride;
    return distance_of_rows(h, tile.w == 0 ? rows_ahead_ : 1) - tile.x * w.out_stride;
  }

 private:
  static constexpr int64_t kElements = 8192 / sizeof(T);  // about as far

  static int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

  // From the box of row h to that of row `next`, which may be one of the next planes.
  int64_t distance_between(int64_t h, int64_t next) const {
    const UpsampleAxis& y = task_.h;
    if (next < y.in) return (y.start[next] - y.start[h]) * y.out_stride;
    const int64_t wrapped = next - y.in < y.in ? next - y.in : 0;
    const int64_t planes = boxes_.planes() * task_.d.out_stride;
    return planes + (y.start[wrapped] - y.start[h]) * y.out_stride;
  }

  // Whether 8 KB of each plane are the distance from any row, however many are made together: on a
  // Zen 5 where w is doubled 0.93 to 0.95 of the time in the mean (0.72 to 1.07), elsewhere no
  // difference. Not measured on other machines.
  bool suit_distances_alike() const {
    return machine().is_zen5 && task_.d.longest > 1 && task_.h.factor > 0 && task_.w.factor == 2 &&
           task_.in_order_ahead == 0;
  }

  const UpsampleNearest3dBackwardTask& task_;
  const UpsampleBoxes<T>& boxes_;
  int64_t rows_ahead_ = 1;  // which of the next rows is prefetched with one that is made alone
  int64_t near_rows_ = 0;   // which with each of several, if it is the same
  bool box_by_box_ = false;
};

SOFTNPU_LEVEL_END
