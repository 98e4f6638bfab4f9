// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set: the table of that set's kernels.
#include "kernels/table.h"
#include "kernels/kernels.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

#define SOFTNPU_STRING_(x) #x
#define SOFTNPU_STRING(x) SOFTNPU_STRING_(x)

extern const KernelTable table;
const KernelTable table = {
    .level = SOFTNPU_STRING(SOFTNPU_LEVEL),
    .elu_backward_from_result = elu_backward_from_result,
    .elu_backward_from_input = elu_backward_from_input,
    .selu_backward = selu_backward,
    .smooth_l1_loss_backward = smooth_l1_loss_backward,
    .upsample_nearest3d_backward = upsample_nearest3d_backward,
    .max_unpool3d_backward = max_unpool3d_backward,
};

SOFTNPU_LEVEL_END
