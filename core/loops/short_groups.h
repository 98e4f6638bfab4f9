// SPDX-License-Identifier: Apache-2.0
// Groups of sums that follow each other in a row: where in the registers their sums will be. Of up
// to two sums four groups at a time, of up to one sixteen, else as many as fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace softnpu::loops {

// Four groups of up to two, of FLOAT and DOUBLE in two registers.
struct FourGroups {
  static constexpr int kGroups = 4, kSums = 2 * kGroups;  // that are loaded for them

  int64_t base = 0;                                   // the first of these in the row
  int64_t first[kGroups] = {}, second[kGroups] = {};  // which of them a group adds
  uint8_t has_first = 0, has_second = 0;              // a bit for each group
};

// For groups of sums [start[i], start[i + 1]) of a piece of a row, which begins with the first of
// them. The last ones overlap those before where their number is no multiple. Empty if the piece is
// too short.
inline std::vector<FourGroups> plan_four_groups(std::span<const int64_t> start) {
  constexpr int64_t kGroups = FourGroups::kGroups;
  const auto n = static_cast<int64_t>(start.size()) - 1;
  const int64_t last_base = start.back() - start[0] - FourGroups::kSums;
  if (n < kGroups || last_base < 0) return {};
  std::vector<FourGroups> all(static_cast<size_t>((n + kGroups - 1) / kGroups));
  for (size_t k = 0; k < all.size(); ++k) {
    const auto group =
        static_cast<size_t>(std::min(static_cast<int64_t>(k) * kGroups, n - kGroups));
    FourGroups& groups = all[k];
    groups.base = std::min(start[group] - start[0], last_base);
    for (size_t i = 0; i < kGroups; ++i) {
      const int64_t begin = start[group + i] - start[0];
      const int64_t length = start[group + i + 1] - start[group + i];
      const int64_t place = begin - groups.base;
      if (length > 0) {
        groups.first[i] = place;
        groups.has_first |= 1 << i;
      }
      if (length > 1) {
        groups.second[i] = place + 1;
        groups.has_second |= 1 << i;
      }
    }
  }
  return all;
}

// Groups of one sum or none, sixteen at a time.
struct SixteenPlaces {
  static constexpr int64_t kPlaces = 16;

  int32_t first = 0;     // the first of their sums in the row
  uint16_t present = 0;  // a bit for each place that has one
};

// For n places, of which `places` lists those that have a sum.
inline std::vector<SixteenPlaces> plan_places(std::span<const int32_t> places, int64_t n) {
  constexpr int64_t kPlaces = SixteenPlaces::kPlaces;
  std::vector<SixteenPlaces> all(static_cast<size_t>((n + kPlaces - 1) / kPlaces));
  size_t sum = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    const int64_t begin = static_cast<int64_t>(k) * kPlaces;
    all[k].first = static_cast<int32_t>(sum);
    for (; sum < places.size() && places[sum] < begin + kPlaces; ++sum)
      all[k].present |= static_cast<uint16_t>(1u << (places[sum] - begin));
  }
  return all;
}

// Groups of up to kMost sums, as many as have kCount together. Those of a group are `step` apart.
template <int kMostGroups, int kCount, int kMost, class Bits>
struct SomeGroups {
  static constexpr int64_t kGroups = kMostGroups, kSums = kCount, kLongest = kMost;

  int64_t base = 0;              // the first of their sums in the row
  uint8_t sums = 0, groups = 0;  // how many: half of kSums, or all, where a row has so many
  uint8_t step = 1;
  uint8_t first[kGroups] = {};  // where a group begins, from there on
  Bits present[kLongest] = {};  // for each place in a group, a bit for each that is so long
};
using PickedGroups = SomeGroups<8, 16, 4, uint8_t>;  // of FLOAT and DOUBLE, in two registers
// Of 16-bit elements, summed in float32, in two.
using SixteenGroups = SomeGroups<16, 32, 16, uint16_t>;

// For groups of positions [start[i], start[i + 1]) of a piece of a row, none longer than kLongest,
// with `side` sums at each position: a group for each of them. Empty if fewer than `fewest` have
// room together, most of the time.
template <class Groups>
std::vector<Groups> plan_some_groups(std::span<const int64_t> start, int64_t side, int64_t fewest) {
  constexpr int64_t kSums = Groups::kSums;
  std::vector<Groups> all;
  const auto n = static_cast<int64_t>(start.size() - 1) * side;
  const int64_t span = (start.back() - start[0]) * side;
  for (int64_t i = 0; i < n;) {
    Groups& some = all.emplace_back();
    some.step = static_cast<uint8_t>(side);
    int64_t sums = 0;
    for (; i < n && some.groups < Groups::kGroups; ++i, ++some.groups) {
      const int64_t* const range = &start[static_cast<size_t>(i / side)];
      const int64_t length = range[1] - range[0];
      if (length == 0) continue;
      const int64_t first = (range[0] - start[0]) * side + i % side;
      if (sums == 0) some.base = first;
      const int64_t last = first - some.base + (length - 1) * side;
      if (last >= kSums) break;
      sums = last + 1;
      some.first[some.groups] = static_cast<uint8_t>(first - some.base);
      for (int64_t place = 0; place < std::min(length, Groups::kLongest); ++place)
        some.present[place] |= 1 << some.groups;
    }
    if (some.groups == 0) return {};
    // As many whatever they are, if the row has so many: those before them, too.
    const int64_t loaded = std::min(sums > kSums / 2 ? kSums : kSums / 2, span);
    const int64_t before = std::max(some.base + loaded - span, int64_t{0});
    some.base -= before;
    some.sums = static_cast<uint8_t>(loaded);
    for (uint8_t i = 0; i < some.groups; ++i) some.first[i] += static_cast<uint8_t>(before);
  }
  if (static_cast<int64_t>(all.size()) * fewest > n + fewest - 1) return {};
  return all;
}

}  // namespace softnpu::loops
