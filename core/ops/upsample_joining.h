// SPDX-License-Identifier: Apache-2.0
// Axes of the upsample gradient that are made one or change places, so that rows get longer and
// more of them are made together: whatever is done for each row, plane or volume counts where they
// have few elements. Each output adds the same numbers in the same order.
#pragma once

#include "kernels/upsample_nearest3d_backward.h"

namespace softnpu::ops {

// Before anything is planned of rows.
void join_axes(kernels::UpsampleNearest3dBackwardTask& task);

// Puts volumes together whose rows are made as they are, or divides them where four of them are
// made side by side. Once all else is planned.
void arrange_volumes(kernels::UpsampleNearest3dBackwardTask& task);

}  // namespace softnpu::ops
