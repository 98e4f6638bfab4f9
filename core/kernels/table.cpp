// SPDX-License-Identifier: Apache-2.0
// The table of one instruction set's kernels, compiled once for each instruction set.
#include "kernels/table.h"
#include "kernels/kernels.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

#define SOFTNPU_STRING_(x) #x
#define SOFTNPU_STRING(x) SOFTNPU_STRING_(x)

extern const KernelTable table;
const KernelTable table = {
    .level = SOFTNPU_STRING(SOFTNPU_LEVEL),
#define SOFTNPU_MEMBER(name) .name = name,
    SOFTNPU_ELEMENTWISE_KERNELS(SOFTNPU_MEMBER)
#undef SOFTNPU_MEMBER
        .upsample_nearest3d = upsample_nearest3d,
    .upsample_nearest3d_backward = upsample_nearest3d_backward,
    .unpool_index_range = unpool_index_range,
    .find_bad_unpool_index = find_bad_unpool_index,
    .max_unpool3d = max_unpool3d,
    .max_unpool3d_backward = max_unpool3d_backward,
};

SOFTNPU_LEVEL_END
