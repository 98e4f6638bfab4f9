// SPDX-License-Identifier: Apache-2.0
// The checks that the smooth L1 loss and its gradient share. The rules are named where these are
// called, so that an operator's file shows them.
#pragma once

#include <span>

#include "executor/operand.h"

namespace softnpu::ops {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Status require_reduction(int64_t reduction, RuleId rule);
// `beta` is as the caller wrote it; a float32 is what is used.
Status require_beta(double beta, RuleId rule);

bool have_one_shape(std::span<const Operand> tensors);

}  // namespace softnpu::ops
