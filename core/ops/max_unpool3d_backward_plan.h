// SPDX-License-Identifier: Apache-2.0
// aclnnMaxUnpool3dBackward: its plan.
#pragma once

#include <array>

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

}  // namespace softnpu::ops
