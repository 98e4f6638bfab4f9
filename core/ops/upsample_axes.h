// SPDX-License-Identifier: Apache-2.0
// What the upsample gradient knows of gradOut's and gradInput's axes before it runs: which elements
// are added up, and in what steps a row is made.
#pragma once

#include <cstdint>

#include "kernels/upsample_nearest3d_backward.h"

namespace softnpu::ops {

// Ranges of gradOut's `out` elements for gradInput's `in`: element i sums those from
// ceil(i · scale) on, in float32 as the document has it. The strides are left to the caller.
kernels::UpsampleAxis make_axis(int64_t in, int64_t out, float scale);
kernels::UpsampleAxis make_axis(int64_t in, int64_t out);  // with the scale out / in

// How many channels inside w are best made one row with it.
int64_t most_joined(const kernels::UpsampleNearest3dBackwardTask& task);

// Puts channels that are side by side into groups, where there are too few rows for all threads.
void group_channels(kernels::UpsampleNearest3dBackwardTask& task, int threads);

// Whether a task is kept for later calls: its lists are short.
bool is_worth_keeping(const kernels::UpsampleNearest3dBackwardTask& task);

// Cuts rows into tiles and lists what their sums are of, once all else in the task is set.
void plan_row_steps(kernels::UpsampleNearest3dBackwardTask& task);

}  // namespace softnpu::ops
