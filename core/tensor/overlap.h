// SPDX-License-Identifier: Apache-2.0
// Whether strided views share memory: exactly, not by their bounds alone.
#pragma once

#include "base/export.h"
#include "tensor/tensor.h"

namespace softnpu {

// Two elements of the view lie on the same memory.
SOFTNPU_EXPORT bool overlaps_itself(const Tensor& tensor);

// Some element of `a` shares a byte with some element of `b`.
SOFTNPU_EXPORT bool overlaps(const Tensor& a, const Tensor& b);

// The same elements at the same addresses in the same order.
SOFTNPU_EXPORT bool is_same_view(const Tensor& a, const Tensor& b);

}  // namespace softnpu
