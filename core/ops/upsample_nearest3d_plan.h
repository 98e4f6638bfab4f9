// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3d: its plan.
#pragma once

#include <array>
#include <memory>

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
  // The arrays that the task points to.
  std::unique_ptr<int32_t[]> sources_;
  std::unique_ptr<kernels::UpsamplePlanes[]> planes_;
};

}  // namespace softnpu::ops
