// SPDX-License-Identifier: Apache-2.0
// The kernels that every instruction set provides, one source file each.
#pragma once

#include "kernels/table.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

void elu_backward_from_result(const loops::ElementwiseLayout&, std::byte* const*, const void*,
                              int64_t begin, int64_t end);
void elu_backward_from_input(const loops::ElementwiseLayout&, std::byte* const*, const void*,
                             int64_t begin, int64_t end);
void selu_backward(const loops::ElementwiseLayout&, std::byte* const*, const void*, int64_t begin,
                   int64_t end);
void smooth_l1_loss_backward(const loops::ElementwiseLayout&, std::byte* const*, const void*,
                             int64_t begin, int64_t end);
void upsample_nearest3d_backward(const UpsampleNearest3dBackwardTask& task,
                                 const std::byte* grad_out, std::byte* grad_input,
                                 std::byte* scratch, int64_t begin, int64_t end);
BadIndex max_unpool3d_backward(const MaxUnpool3dBackwardTask& task, const std::byte* grad,
                               const int64_t* indices, std::byte* out, int64_t begin, int64_t end);

SOFTNPU_LEVEL_END
