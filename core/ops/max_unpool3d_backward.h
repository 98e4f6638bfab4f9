// SPDX-License-Identifier: Apache-2.0
// aclnnMaxUnpool3dBackward: its arguments, checks and plan.
#pragma once

#include <array>

#include "executor/two_phase.h"
#include "kernels/table.h"

namespace softnpu::ops {

class MaxUnpool3dBackwardPlan {
 public:
  MaxUnpool3dBackwardPlan(const kernels::MaxUnpool3dBackwardTask& task, Dims shape)
      : task_(task), shape_(std::move(shape)) {}
  void expect_fresh_output() { task_.stream = false; }
  uint64_t workspace_size() const { return 0; }
  SOFTNPU_EXPORT Status run(std::byte* const* origins, std::byte* workspace) const;

 private:
  kernels::MaxUnpool3dBackwardTask task_;
  Dims shape_;  // of indices, for messages
};

struct MaxUnpool3dBackward {
  struct Args {
    TensorArg grad_output;
    TensorArg self;
    TensorArg indices;
    const IntArray* output_size;
    const IntArray* stride;
    const IntArray* padding;
    TensorArg out;
  };
  using Plan = MaxUnpool3dBackwardPlan;

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
  static std::array<Operand, 4> operands(const Args& a) {
    return {{{"gradOutput", a.grad_output, Use::read},
             {"self", a.self, Use::shape_only},
             {"indices", a.indices, Use::read},
             {"out", a.out, Use::write}}};
  }
  SOFTNPU_EXPORT static Plan plan(const Args& a);
};

}  // namespace softnpu::ops
