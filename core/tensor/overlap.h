// SPDX-License-Identifier: Apache-2.0
// Whether strided views share memory: exactly, not by their bounds alone.
#pragma once

#include "base/export.h"
#include "tensor/tensor.h"

namespace softnpu {

// Two elements of the view lie on the same memory.
SOFTNPU_EXPORT bool overlaps_itself(const Tensor& tensor);

// The bytes from the first to the last that a view may touch.
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

// Some element of `a` shares a byte with some element of `b`. Where their bounds do not meet, none
// does, which is quicker to see.
SOFTNPU_EXPORT bool overlaps(const Tensor& a, const Tensor& b);

// The same elements at the same addresses in the same order.
SOFTNPU_EXPORT bool is_same_view(const Tensor& a, const Tensor& b);

}  // namespace softnpu
