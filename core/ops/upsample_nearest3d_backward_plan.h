// SPDX-License-Identifier: Apache-2.0
// aclnnUpsampleNearest3dBackward: its plan.
#pragma once

#include <array>

#include "kernels/table.h"
#include "loops/threads.h"
#include "ops/upsample.h"

namespace softnpu::ops {

// The workspace holds the scratch memory of each thread.
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

}  // namespace softnpu::ops
