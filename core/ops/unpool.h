// SPDX-License-Identifier: Apache-2.0
// Code shared by max unpooling and its gradient: checks, the layout of views, and the report of an
// invalid index. The *unpooled* tensor, out or gradOutput, is the one that indices refer to.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "executor/operand.h"
#include "kernels/max_unpool3d.h"

namespace softnpu::ops {

// The rules are passed by the callers, so that an operator's file shows them.

// Checks tensors that must have the rank and the shape of self.
Status check_like_self(std::span<const Operand> tensors, const Tensor& self, RuleId rank_rule,
                       RuleId shape_rule);
Status check_not_empty(const Tensor& self, RuleId rule);
struct UnpoolSizes {
  const Dims &output_size, &stride, &padding;
};
Status check_unpool_sizes(const UnpoolSizes& sizes, const Tensor& self, RuleId length_rule,
                          RuleId positive_rule, RuleId small_rule);
Status check_unpooled(const Operand& unpooled, const Tensor& self, const Dims& output_size,
                      RuleId spatial_rule, RuleId rank_rule, RuleId batch_rule);

std::span<const int64_t> spatial(const Dims& sizes);
// The strides of n, c, d, h, w; a tensor of rank 4 has no c.
void read_strides(const Tensor& tensor, int64_t (&strides)[5]);
// Whether one step fits D, H, W; stores it in `step`.
bool is_flat(const Tensor& tensor, int64_t& step);

// The first one, by position, of the invalid indices that threads find.
class FirstBadIndex {
 public:
  void add(const kernels::BadIndex& bad);
  // A failure if there is one. `shape` is that of indices; valid indices are below `limit`.
  Status status(const Dims& shape, int64_t limit) const;

 private:
  std::mutex mutex_;
  kernels::BadIndex first_;
};

}  // namespace softnpu::ops
