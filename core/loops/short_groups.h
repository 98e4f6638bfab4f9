// SPDX-License-Identifier: Apache-2.0
// Groups of up to two sums that follow each other in a row, four groups at a time: where in two
// registers their sums will be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace softnpu::loops {

struct FourGroups {
  static constexpr int64_t kSums = 8;  // that are loaded for them

  int64_t base = 0;                       // the first of these in the row
  int64_t first[4] = {}, second[4] = {};  // which of them a group adds
  uint8_t has_first = 0, has_second = 0;  // a bit for each group
};

// For n groups, 4 or more, of sums [start[i], start[i + 1]), of which there are at least kSums. The
// last four overlap those before where n is no multiple of 4.
inline std::vector<FourGroups> plan_four_groups(const std::vector<int64_t>& start) {
  const auto n = static_cast<int64_t>(start.size()) - 1;
  const int64_t last_base = start.back() - FourGroups::kSums;
  std::vector<FourGroups> all(static_cast<size_t>((n + 3) / 4));
  for (size_t k = 0; k < all.size(); ++k) {
    const auto group = static_cast<size_t>(std::min(static_cast<int64_t>(4 * k), n - 4));
    FourGroups& four = all[k];
    four.base = std::min(start[group], last_base);
    for (size_t i = 0; i < 4; ++i) {
      const int64_t begin = start[group + i], length = start[group + i + 1] - begin;
      if (length > 0) four.first[i] = begin - four.base, four.has_first |= 1 << i;
      if (length > 1) four.second[i] = begin - four.base + 1, four.has_second |= 1 << i;
    }
  }
  return all;
}

}  // namespace softnpu::loops
