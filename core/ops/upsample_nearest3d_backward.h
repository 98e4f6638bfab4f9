// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3dBackward: its arguments, checks and plan.
#pragma once

#include <array>

#include "executor/two_phase.h"
#include "kernels/table.h"
#include "loops/threads.h"
#include "ops/upsample.h"

namespace softnpu::ops {

// The workspace holds each thread's scratch memory.
class UpsampleNearest3dBackwardPlan {
 public:
  using Task = kernels::UpsampleNearest3dBackwardTask;

  explicit UpsampleNearest3dBackwardPlan(const Task& task)
      : task_(task), workers_(loops::thread_count()) {}
  uint64_t workspace_size() const {
    return static_cast<uint64_t>(workers_) * sizeof(kernels::UpsampleScratch);
  }
  void expect_fresh_output() { task_.stream = false; }
  SOFTNPU_EXPORT Status run(std::byte* const* origins, std::byte* workspace) const;

 private:
  Task task_;
  int workers_;
};

struct UpsampleNearest3dBackward {
  struct Args {
    TensorArg grad_out;
    const IntArray* output_size;
    const IntArray* input_size;
    Scales scales;
    TensorArg grad_input;
  };
  using Plan = UpsampleNearest3dBackwardPlan;

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
  static std::array<Operand, 2> operands(const Args& a) {
    return {{{"gradOut", a.grad_out, Use::read}, {"gradInput", a.grad_input, Use::write}}};
  }
  SOFTNPU_EXPORT static Plan plan(const Args& a);
};

}  // namespace softnpu::ops
