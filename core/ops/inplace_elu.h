// SPDX-License-Identifier: Apache-2.0
// aclnnInplaceElu: its arguments, checks and plan.
#pragma once

#include <array>

#include "executor/two_phase.h"
#include "loops/elementwise.h"

namespace softnpu::ops {

struct InplaceElu {
  struct Args {
    TensorArg self_ref;
    const Scalar* alpha;
    const Scalar* scale;
    const Scalar* input_scale;
  };
  using Plan = loops::InPlacePlan;

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
  static std::array<Operand, 1> operands(const Args& a) {
    return {{{"selfRef", a.self_ref, Use::update}}};
  }
  SOFTNPU_EXPORT static Plan plan(const Args& a);
};

}  // namespace softnpu::ops
