// SPDX-License-Identifier: Apache-2.0
// aclnnSmoothL1LossBackward: its arguments, checks and plan.
#pragma once

#include <array>

#include "executor/two_phase.h"
#include "loops/elementwise.h"

namespace softnpu::ops {

struct SmoothL1LossBackward {
  struct Args {
    TensorArg grad_out;
    TensorArg self;
    TensorArg target;
    int64_t reduction;
    double beta;  // as the caller wrote it; a float32 is what is used
    TensorArg grad_input;
  };
  using Plan = loops::ElementwisePlan;

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
  static std::array<Operand, 4> operands(const Args& a) {
    return {{{"gradOut", a.grad_out, Use::read},
             {"self", a.self, Use::read},
             {"target", a.target, Use::read},
             {"gradInput", a.grad_input, Use::write}}};
  }
  SOFTNPU_EXPORT static Plan plan(const Args& a);
};

}  // namespace softnpu::ops
