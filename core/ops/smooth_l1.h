// SPDX-License-Identifier: Apache-2.0
// What the smooth L1 loss and its gradient share. The rules are named where the checks are called,
// so that an operator's list of checks shows them.
#pragma once

#include <span>

#include "executor/operand.h"

namespace softnpu::ops {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

// Data types that the product has, in public formats.
Status check_float_types(std::span<const Operand> tensors, RuleId rule);
Status check_ranks(std::span<const Operand> tensors, RuleId rule);
Status check_reduction(int64_t reduction, RuleId rule);
// `beta` is as the caller wrote it; a float32 is what is used.
Status check_beta(double beta, RuleId rule);

bool have_one_shape(std::span<const Operand> tensors);

}  // namespace softnpu::ops
