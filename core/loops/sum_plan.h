// SPDX-License-Identifier: Apache-2.0
// A planned sum or mean of a formula's results. It does not depend on the order of elements
// (loops/free_sum.h), so they are read in memory order.
#pragma once

#include "loops/elementwise.h"

namespace softnpu::loops {

// An array of these sizes with the inputs' order of dimensions in memory.
SOFTNPU_EXPORT Tensor array_like(std::span<const Tensor* const, 2> inputs, const Dims& sizes);

class SumPlan {
 public:
  // The inputs are broadcast to `sizes`. The kernel gets a SharedSum in the output's place.
  template <class Formula>
  SumPlan(std::span<const Tensor* const, 2> inputs, const Dims& sizes, ElementwiseKernel kernel,
          const Formula& formula, double divisor, DType result)
      : SumPlan(inputs, array_like(inputs, sizes), kernel, formula) {
    divisor_ = divisor;
    result_ = result;
  }

  uint64_t workspace_size() const { return 0; }
  SOFTNPU_EXPORT Status run(std::byte* const* origins, std::byte* workspace) const;

 private:
  template <class Formula>
  SumPlan(std::span<const Tensor* const, 2> inputs, const Tensor& whole, ElementwiseKernel kernel,
          const Formula& formula)
      : terms_(std::array{inputs[0], inputs[1], &whole}, kernel, formula) {}

  ElementwisePlan terms_;
  double divisor_ = 1;
  DType result_ = DType::f32;
};

}  // namespace softnpu::loops
