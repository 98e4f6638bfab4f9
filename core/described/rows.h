// SPDX-License-Identifier: Apache-2.0
// Rows of elements of any real type as float64 or int64, and back with one rounding.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/export.h"
#include "tensor/tensor.h"

namespace softnpu::described {

// Types that fit int64 or float64 exactly. UINT64 and complex numbers do not.
constexpr bool is_real(DType type) {
  return type != DType::u64 && (is_integer(type) || is_floating(type) || type == DType::boolean);
}

template <class T>
using LoadRow = void (*)(const std::byte* first, int64_t stride, int64_t n, T* out);
template <class T>
using StoreRow = void (*)(const T* in, int64_t n, int64_t stride, std::byte* first);

// T is double or int64_t. A floating element becomes an integer by truncation. What is beyond the
// range of an integer type saturates if it was floating, and wraps if it was an integer; NaN
// becomes 0. Everything but 0 is true.
template <class T>
LoadRow<T> loader(DType type);
template <class T>
StoreRow<T> storer(DType type);

// A scalar as a T.
template <class T>
T number_from(const Scalar& scalar) {
  alignas(16) const auto bytes = scalar.bytes;  // which a scalar does not align
  T value{};
  loader<T>(scalar.dtype)(bytes.data(), 1, 1, &value);
  return value;
}

// Several views of one shape, row by row in row-major order. Dimensions are merged where all
// strides allow.
class SOFTNPU_EXPORT Walk {
 public:
  // Strides of a tensor are taken as broadcast to `sizes`, aligned at the right.
  Walk(const Dims& sizes, std::vector<const Tensor*> views);

  int64_t row_length() const { return row_; }
  int64_t row_stride(size_t view) const { return row_strides_[view]; }

  // Calls f(offsets): where each view's row begins, in elements from its first.
  template <class F>
  void for_each_row(F&& f) const {
    if (row_ == 0) return;
    std::vector<int64_t> offsets(row_strides_.size()), at(outer_.size());
    for (;;) {
      f(offsets);
      size_t d = outer_.size();
      for (;;) {
        if (d == 0) return;
        --d;
        const bool more = ++at[d] < outer_[d];
        const int64_t steps = more ? 1 : 1 - outer_[d];
        for (size_t v = 0; v < offsets.size(); ++v) offsets[v] += steps * strides_[d][v];
        if (more) break;
        at[d] = 0;
      }
    }
  }

  // At most so many elements of a row, as they fit the caches.
  static constexpr int64_t kBlock = 1024;
  // Calls f(offsets, n) for n elements of a row, where a block of each view begins.
  template <class F>
  void for_each_block(F&& f) const {
    std::vector<int64_t> at;
    for_each_row([&](const std::vector<int64_t>& offsets) {
      at = offsets;
      for (int64_t left = row_; left > 0; left -= kBlock) {
        f(at, std::min(kBlock, left));
        for (size_t v = 0; v < at.size(); ++v) at[v] += kBlock * row_strides_[v];
      }
    });
  }

 private:
  int64_t row_ = 1;
  std::vector<int64_t> row_strides_;
  std::vector<int64_t> outer_;                 // sizes, outermost first
  std::vector<std::vector<int64_t>> strides_;  // of each outer dimension, for each view
};

}  // namespace softnpu::described
