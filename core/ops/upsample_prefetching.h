// SPDX-License-Identifier: Apache-2.0
// What the upsample gradient's kernel prefetches, and in which order.
#pragma once

#include <cstdint>

#include "kernels/upsample_nearest3d_backward.h"

namespace softnpu::ops {

// Of operands of so many bytes, before channels are grouped or joined.
void plan_prefetching(kernels::UpsampleNearest3dBackwardTask& task, int64_t bytes);

// Whether in the order of memory, not in that of boxes; for a task that is planned but for that.
void plan_memory_order(kernels::UpsampleNearest3dBackwardTask& task, int64_t bytes);

}  // namespace softnpu::ops
