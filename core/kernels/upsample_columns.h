// SPDX-License-Identifier: Apache-2.0
// The last step for rows along W: adds up adjacent elements in a row of sums.
#pragma once

#include "kernels/upsample_boxes.h"
#include "kernels/upsample_nearest3d_backward.h"

SOFTNPU_LEVEL_BEGIN

// Adds up rows along W, with `side` adjacent elements at each position, for several short rows at
// once. Ranges of two elements are added in pairs. Other ranges use lists: list p has the index of
// the p-th term of each element, or the index of the constant -0, which changes no sum, if the
// range is shorter, or of 0 if the range is empty.
template <class T>
class Columns {
 public:
  static constexpr bool kCompensated = kIsCompensated<T>;
  using Row = SumRow<kCompensated>;
  using Sum = RunningSum<double, kCompensated>;

  // Prepares elements [first, end) along the axis, in up to `rows` rows. Stores the constants
  // behind the last of them in `sums`; `list` has room for kUpsampleList indices.
  void enter(const UpsampleAxis& axis, int64_t first, int64_t end, int64_t side, int64_t rows,
             const Row& sums, int32_t* list) {
    const int64_t begin = axis.start(first), width = (end - first) * side;
    span_ = (axis.start(end) - begin) * side;
    width_ = width;
    count_ = rows * width;
    pairs_ = side == 1 && axis.scale == 2 && 2 * axis.in <= axis.out;
    list_ = list;
    longest_ = 0;
    if (pairs_) return;
    const int64_t none = rows * span_;
    sums.put(none, Sum{0.0});
    sums.put(none + 1, Sum{-0.0});
    for (int64_t w = first, at = 0, next; w < end; ++w, at = next) {
      next = axis.start(w + 1) - begin;
      add_places(at * side, next - at, side, (w - first) * side, static_cast<int32_t>(none));
    }
    repeat_for_rows(rows, static_cast<int32_t>(none));
  }

  // Adds up `rows` rows, at most as many as were prepared.
  void total(const Row& sums, int64_t rows, Finished<T>* out) const {
    const int64_t n = rows * width_;
    if (pairs_) return total_pairs(sums, n, out);
    total_listed(sums, n, out);
  }

 private:
  // Lists the range of `length` positions from sum `from` on, for `side` elements from number `i`
  // on.
  void add_places(int64_t from, int64_t length, int64_t side, int64_t i, int32_t none) {
    for (; longest_ < (length > 1 ? length : 1); ++longest_)
      for (int64_t k = 0; k < width_; ++k)
        list_[longest_ * count_ + k] = none + (longest_ == 0 ? 0 : 1);
    for (int64_t place = 0; place < length; ++place)
      for (int64_t s = 0; s < side; ++s)
        list_[place * count_ + i + s] = static_cast<int32_t>(from + place * side + s);
  }

  void repeat_for_rows(int64_t rows, int32_t none) {
    for (int64_t place = 0; place < longest_; ++place)
      for (int64_t row = 1; row < rows; ++row)
        for (int64_t i = 0; i < width_; ++i) {
          int32_t* const list = list_ + place * count_;
          const int32_t step = list[i] < none ? static_cast<int32_t>(row * span_) : 0;
          list[row * width_ + i] = list[i] + step;
        }
  }

  static void total_pairs(const Row& sums, int64_t n, Finished<T>* out) {
    SOFTNPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      Sum sum = sums.at(2 * i);
      sum.add(sums.at(2 * i + 1));
      out[i] = static_cast<Finished<T>>(sum.total());
    }
  }

  void total_listed(const Row& sums, int64_t n, Finished<T>* out) const {
    const int64_t longest = longest_, count = count_;
    const int32_t* const list = list_;
    SOFTNPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      Sum sum = sums.at(list[i]);
      for (int64_t place = 1; place < longest; ++place) sum.add(sums.at(list[place * count + i]));
      out[i] = static_cast<Finished<T>>(sum.total());
    }
  }

  int64_t span_ = 0, width_ = 0, count_ = 0, longest_ = 0;
  bool pairs_ = false;
  int32_t* list_ = nullptr;
};

SOFTNPU_LEVEL_END
