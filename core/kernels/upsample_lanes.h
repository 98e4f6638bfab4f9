// SPDX-License-Identifier: Apache-2.0
// Where total_lanes() is the fastest way to make positions with their channels beside each other.
#pragma once

#include <cstdint>

#include "base/machine.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_nearest3d_backward.h"
#include "loops/lane_totals.h"
#include "loops/level.h"

#ifdef SOFTNPU_LANE_TOTALS
SOFTNPU_LEVEL_BEGIN

// The boxes are those that `boxes` took last.
template <class T>
class UpsampleLanes {
 public:
  UpsampleLanes(const UpsampleNearest3dBackwardTask& task, const UpsampleBoxes<T>& boxes)
      : task_(task), boxes_(boxes) {}

  // For nv channels, n elements of a row in all: 0.5 to 1 of the time that rows behind each other
  // take. Large boxes take up to 3 times as long, channels that fill no steps up to 1.5 times.
  bool suit(int64_t n, int64_t nv) const {
    constexpr int64_t kFew = 4, kSome = 16, kLarge = int64_t{12} << 10;
    const int64_t in_box = boxes_.rows() * boxes_.planes();
    if ((sizeof(T) == 2 || in_box > 2) && !fills_steps<T>(nv)) return false;
    if (!kHasWide && !suit_narrow(in_box, nv)) return false;
    if (in_box <= kFew) return true;
    // A Zen 5 does not foresee so many rows: row by row from memory 0.6 to 1.09 of the time, in the
    // mean 0.93.
    if (prefetches() && boxes_.planes() > 1 && machine().is_zen5) return false;
    const bool many = suit_many(nv);
    const int64_t most = many ? 20 * kLarge : prefetches() ? kLarge : 3 * kLarge;
    if (in_box * task_.w.longest * nv * int64_t{sizeof(T)} > most) return false;
    return many || in_box <= kSome || !boxes_.is_large(n);
  }
  // Where box and ranges are small, too, or a `row` is as one position: 0.65 to 1 of the time; of
  // FLOAT in a cache up to 1.2 times.
  bool suit_better(int64_t nv, bool row) const {
    const bool single = boxes_.rows() * boxes_.planes() == 1;
    if (sizeof(T) == 2 || nv < kMany) return false;
    if (!kHasWide) return kIsCompensated<T> && !row && task_.w.longest == 1;
    if (!kIsCompensated<T>) return !row && (single || prefetches());
    // In a cache 1 to 1.3 times. On a Xeon single elements up to 1.15 times.
    if (!prefetches() || (single && task_.w.longest == 1 && machine().is_intel)) return false;
    return !(row && single);
  }

 private:
  static constexpr int64_t kMany = kManyLanes<T>;

  bool prefetches() const { return boxes_.ahead().any(); }

  // Whether nv channels, of 16-bit elements in a cache, are nearly all summed in four registers at
  // a time: large boxes take 0.5 to 0.9 of the time then, and in one register up to 1.9 times.
  bool suit_many(int64_t nv) const {
    return kHasWide && sizeof(T) == 2 && !prefetches() && nv >= kMany && nv % kMany <= kLanes;
  }

  // Sums of four at a time gain less: in other boxes they take 0.9 to 1.4 times as long.
  bool suit_narrow(int64_t in_box, int64_t nv) const {
    if (sizeof(T) > 2) return in_box <= 2;
    return nv >= 2 * kLanes && (in_box == 1 || task_.w.longest == 1);
  }

  const UpsampleNearest3dBackwardTask& task_;
  const UpsampleBoxes<T>& boxes_;
};

SOFTNPU_LEVEL_END
#endif
