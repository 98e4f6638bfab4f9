// SPDX-License-Identifier: Apache-2.0
// The last step for rows along W: neighbours in a row of sums are added up.
#pragma once

#include "kernels/upsample_boxes.h"
#include "kernels/upsample_nearest3d_backward.h"

SOFTNPU_LEVEL_BEGIN

// Adds up a tile of a row along W, with `side` adjacent elements at each position. Ranges of two
// are pairs. Others have a list for each place in a range, which says for each element which sum to
// add: of elements whose range has no such place, one of -0, which changes nothing; of empty
// ranges, one of 0.
template <class T>
class Columns {
 public:
  static constexpr bool kCompensated = kIsCompensated<T>;
  using Row = SumRow<kCompensated>;
  using Sum = RunningSum<double, kCompensated>;

  // For elements [first, end) along the axis; `list` has room for kUpsampleList places.
  void enter(const UpsampleAxis& axis, int64_t first, int64_t end, int64_t side, int32_t* list) {
    count_ = (end - first) * side;
    begin_ = axis.start(first);
    span_ = axis.start(end) - begin_;
    side_ = side;
    pairs_ = side == 1 && axis.scale == 2 && 2 * axis.in <= axis.out;
    list_ = list;
    longest_ = 0;
    if (!pairs_ && span_ * side <= kUpsampleTile) list_places(axis, first, end);
  }

  int64_t begin() const { return begin_; }
  int64_t span() const { return span_; }

  void total(const Row& sums, Finished<T>* out) const {
    if (pairs_) return total_pairs(sums, out);
    put_constant(sums, span_ * side_, 0.0);
    put_constant(sums, span_ * side_ + 1, -0.0);
    switch (longest_) {
      case 0:
      case 1:
        return total_listed<1>(sums, out);
      case 2:
        return total_listed<2>(sums, out);
      case 3:
        return total_listed<3>(sums, out);
      case 4:
        return total_listed<4>(sums, out);
      default:
        return total_listed<0>(sums, out);
    }
  }

 private:
  static void put_constant(const Row& sums, int64_t i, double value) { sums.put(i, Sum{value}); }

  void list_places(const UpsampleAxis& axis, int64_t first, int64_t end) {
    const auto none = static_cast<int32_t>(span_ * side_);
    for (int64_t w = first, at = 0, next; w < end; ++w, at = next) {
      next = axis.start(w + 1) - begin_;
      for (; longest_ < (next - at > 1 ? next - at : 1); ++longest_)
        for (int64_t i = 0; i < count_; ++i)
          list_[longest_ * count_ + i] = none + (longest_ == 0 ? 0 : 1);
      for (int64_t place = 0; place < next - at; ++place)
        for (int64_t s = 0; s < side_; ++s)
          list_[place * count_ + (w - first) * side_ + s] =
              static_cast<int32_t>((at + place) * side_ + s);
    }
  }

  void total_pairs(const Row& sums, Finished<T>* out) const {
    SOFTNPU_INDEPENDENT
    for (int64_t i = 0; i < count_; ++i) {
      Sum sum = sums.at(2 * i);
      sum.add(sums.at(2 * i + 1));
      out[i] = static_cast<Finished<T>>(sum.total());
    }
  }

  template <int kLongest>
  void total_listed(const Row& sums, Finished<T>* out) const {
    const int64_t longest = kLongest > 0 ? kLongest : longest_, count = count_;
    const int32_t* const list = list_;
    SOFTNPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      Sum sum = sums.at(list[i]);
      for (int64_t place = 1; place < longest; ++place) sum.add(sums.at(list[place * count + i]));
      out[i] = static_cast<Finished<T>>(sum.total());
    }
  }

  int64_t count_ = 0, begin_ = 0, span_ = 0, side_ = 1, longest_ = 0;
  bool pairs_ = false;
  int32_t* list_ = nullptr;
};

SOFTNPU_LEVEL_END
