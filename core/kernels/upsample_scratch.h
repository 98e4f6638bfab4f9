// SPDX-License-Identifier: Apache-2.0
// The memory that a thread makes rows of the upsample gradient in, and the types that lie in it.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/table.h"
#include "loops/level.h"
#include "loops/sums.h"

SOFTNPU_LEVEL_BEGIN

template <class T>
struct UpsampleScratch {
  static constexpr bool kCompensated = kIsCompensated<T>;
  // Sums of DOUBLE are written as they are, all others as float.
  using Stage = std::conditional_t<kCompensated, double, float>;
  static constexpr int kBatch = 4;

  explicit UpsampleScratch(std::byte* memory) {
    double* const rows = reinterpret_cast<double*>(memory);
    sums = {rows, rows + kUpsampleRow};
    open = {rows + 2 * kUpsampleRow, rows + 3 * kUpsampleRow};
    result = reinterpret_cast<Stage*>(rows + 4 * kUpsampleRow);
    for (int r = 0; r < kBatch; ++r)
      staged[r] = reinterpret_cast<Stage*>(rows + (5 + r) * kUpsampleRow);
  }

  Sums<kCompensated> sums;  // over z and y, of one tile
  Sums<kCompensated> open;  // of a range longer than a tile
  Stage* result;            // finished sums, before they are written
  // Rows of gradOut that had to be converted or gathered. The first serves others, too, once its
  // row has been added.
  Stage* staged[kBatch];
};

SOFTNPU_LEVEL_END
