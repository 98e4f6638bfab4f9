// SPDX-License-Identifier: Apache-2.0
// aclnnEluBackward: its arguments, checks and plan.
#pragma once

#include <array>

#include "executor/two_phase.h"
#include "loops/elementwise.h"

namespace softnpu::ops {

struct EluBackward {
  struct Args {
    TensorArg grad_output;
    const Scalar* alpha;
    const Scalar* scale;
    const Scalar* input_scale;
    bool is_result;
    TensorArg self_or_result;
    TensorArg grad_input;
  };
  using Plan = loops::ElementwisePlan;

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
  static std::array<Operand, 3> operands(const Args& a) {
    return {{{"gradOutput", a.grad_output, Use::read},
             {"selfOrResult", a.self_or_result, Use::read},
             {"gradInput", a.grad_input, Use::write}}};
  }
  SOFTNPU_EXPORT static Plan plan(const Args& a);
};

}  // namespace softnpu::ops
