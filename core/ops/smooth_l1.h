// SPDX-License-Identifier: Apache-2.0
// Checks shared by the smooth L1 loss and its gradient. Callers pass the rules, so that an
// operator's file shows them.
#pragma once

#include <span>

#include "executor/operand.h"

namespace softnpu::ops {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Status require_reduction(int64_t reduction, RuleId rule);
// `beta` is the caller's value; it is used as float32.
Status require_beta(double beta, RuleId rule);

bool have_one_shape(std::span<const Operand> tensors);

}  // namespace softnpu::ops
