// SPDX-License-Identifier: Apache-2.0
// aclnnSelu: its arguments, checks and plan.
#pragma once

#include <array>

#include "executor/two_phase.h"
#include "loops/elementwise.h"

namespace softnpu::ops {

struct Selu {
  struct Args {
    TensorArg self;
    TensorArg out;
  };
  using Plan = loops::ElementwisePlan;

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
  static std::array<Operand, 2> operands(const Args& a) {
    return {{{"self", a.self, Use::read}, {"out", a.out, Use::write}}};
  }
  SOFTNPU_EXPORT static Plan plan(const Args& a);
};

}  // namespace softnpu::ops
