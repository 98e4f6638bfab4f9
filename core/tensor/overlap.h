// SPDX-License-Identifier: Apache-2.0
// Whether strided views share memory, decided exactly, not by their bounds.
#pragma once

#include "base/export.h"
#include "tensor/tensor.h"

namespace softnpu {

// Whether two elements of the view share memory.
SOFTNPU_EXPORT bool overlaps_itself(const Tensor& tensor);

class Bounds {
 public:
  __extension__ using Wide = __int128;  // sums of products of two int64 sizes

  SOFTNPU_EXPORT explicit Bounds(const Tensor& tensor);
  Wide low() const { return low_; }
  Wide end() const { return end_; }
  bool meet(const Bounds& other) const { return low_ < other.end_ && other.low_ < end_; }

 private:
  Wide low_, end_;
};

// Whether an element of `a` shares a byte with an element of `b`. Comparing bounds first is faster.
SOFTNPU_EXPORT bool overlaps(const Tensor& a, const Tensor& b);

// Whether both have the same elements at the same addresses in the same order.
SOFTNPU_EXPORT bool is_same_view(const Tensor& a, const Tensor& b);

}  // namespace softnpu
