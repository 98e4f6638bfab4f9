// SPDX-License-Identifier: Apache-2.0
// What max unpooling and its gradient share: checks, how views are walked, and the report of a bad
// index. The *unpooled* tensor, out or gradOutput, is the one that indices count in.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "executor/operand.h"
#include "kernels/bad_index.h"

namespace softnpu::ops {

// The rules are named where these are called, so that an operator's list of checks shows them.

// Of tensors that must be like self.
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

// D, H, W of a tensor's sizes.
std::span<const int64_t> spatial(const Dims& sizes);
// The strides of n, c, d, h, w; a tensor of rank 4 has no c.
void read_strides(const Tensor& tensor, int64_t (&strides)[5]);
// Whether D, H, W can be walked with one step; `step` is it.
bool is_flat(const Tensor& tensor, int64_t& step);

// Of the bad indices that threads find, the first by position.
class FirstBadIndex {
 public:
  void add(const kernels::BadIndex& bad);
  // Not ok if there is one. `shape` is that of indices, `limit` what they must be below.
  Status status(const Dims& shape, int64_t limit) const;

 private:
  std::mutex mutex_;
  kernels::BadIndex first_;
};

}  // namespace softnpu::ops
