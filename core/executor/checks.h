// SPDX-License-Identifier: Apache-2.0
// The predicates that an operator's description uses for its checks. Each takes the name of its
// rule; its message has the actual and the expected value.
#pragma once

#include <initializer_list>
#include <span>

#include "executor/operand.h"

namespace softnpu {

// The data type is one of `types`; BF16 only if the selected product supports it.
SOFTNPU_EXPORT Status check_type(RuleId rule, const Operand& operand,
                                 std::initializer_list<DType> types);
SOFTNPU_EXPORT Status check_formats(std::span<const Operand> operands);
SOFTNPU_EXPORT Status check_same_type(RuleId rule, const Operand& operand, const Operand& other);
SOFTNPU_EXPORT Status check_same_shape(RuleId rule, const Operand& operand, const Operand& other);
// The scalar converts to float32.
SOFTNPU_EXPORT Status check_real(RuleId rule, const char* name, const Scalar& scalar);
// A result of `from`'s type can be written to `to`.
SOFTNPU_EXPORT Status check_cast(RuleId rule, const Operand& from, const Operand& to);
SOFTNPU_EXPORT Status check_rank(RuleId rule, const Operand& operand, size_t least, size_t most);
SOFTNPU_EXPORT Status check_contiguous(RuleId rule, const Operand& operand);

}  // namespace softnpu
