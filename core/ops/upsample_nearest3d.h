// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3d: its arguments, checks and plan.
#pragma once

#include <array>
#include <memory>

#include "executor/two_phase.h"
#include "kernels/table.h"
#include "ops/upsample.h"

namespace softnpu::ops {

class UpsampleNearest3dPlan {
 public:
  UpsampleNearest3dPlan(const kernels::UpsampleAxes& axes, int64_t item);
  uint64_t workspace_size() const { return 0; }
  void expect_fresh_output() { task_.stream = false; }
  SOFTNPU_EXPORT Status run(std::byte* const* origins, std::byte* workspace) const;

 private:
  kernels::UpsampleNearest3dTask task_;
  // What the task points to.
  std::unique_ptr<int32_t[]> sources_;
  std::unique_ptr<kernels::UpsamplePlanes[]> planes_;
};

struct UpsampleNearest3d {
  struct Args {
    TensorArg self;
    const IntArray* output_size;
    Scales scales;
    TensorArg out;
  };
  using Plan = UpsampleNearest3dPlan;

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
  static std::array<Operand, 2> operands(const Args& a) {
    return {{{"self", a.self, Use::read}, {"out", a.out, Use::write}}};
  }
  SOFTNPU_EXPORT static Plan plan(const Args& a);
};

}  // namespace softnpu::ops
