// SPDX-License-Identifier: Apache-2.0
// aclnnMaxUnpool3d: its plan.
#pragma once

#include <array>

#include "kernels/table.h"

namespace softnpu::ops {

class MaxUnpool3dPlan {
 public:
  // Memory of out to set to 0 before the kernel runs: its begin, relative to the view's first
  // element, and its size, in bytes.
  struct Block {
    int64_t begin = 0, size = 0;
  };

  // A plane is divided into `parts` parts, if their indices do not overlap. A part consists of
  // slabs with `slab` elements of self.
  struct Cut {
    int64_t parts = 1, slab = 1;
  };

  MaxUnpool3dPlan(const kernels::MaxUnpool3dTask& task, const Block& zeroed, const Cut& cut,
                  Dims shape)
      : task_(task), zeroed_(zeroed), cut_(cut), shape_(std::move(shape)) {}
  uint64_t workspace_size() const { return 0; }
  SOFTNPU_EXPORT Status run(std::byte* const* origins, std::byte* workspace) const;

  static constexpr int64_t kMostParts = 64;  // of all planes together, if planes are divided

 private:
  class Ranges;

  kernels::UnpoolPart part(int64_t unit, int64_t parts) const;

  kernels::MaxUnpool3dTask task_;
  Block zeroed_;
  Cut cut_;
  Dims shape_;  // of indices, for messages
};

}  // namespace softnpu::ops
