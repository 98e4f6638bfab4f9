// SPDX-License-Identifier: Apache-2.0
// Element types of messages, and reductions over the ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hccl/hccl_types.h"

namespace softnpu::hccl {

// Bytes of an element; 0 for a type that does not exist.
size_t item_size(int32_t type);

// Reduces `count` elements of each rank, in the order of the ranks: in float64 and rounded once, or
// modulo 2^64. A NaN is the largest and the smallest.
void reduce(const std::vector<const std::byte*>& ranks, size_t count, HcclDataType type,
            HcclReduceOp op, std::byte* out);

}  // namespace softnpu::hccl
