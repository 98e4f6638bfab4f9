// SPDX-License-Identifier: Apache-2.0
//
// Nearest upsampling of volumes. `outputSize` is out's D, H, W; scales are output over input, and 0
// or less means that they follow from the sizes.
#ifndef SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_3D_H_
#define SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_3D_H_

#include "../aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase one: checks the arguments, plans, and says how many bytes of device memory phase two needs.
ACLNN_API aclnnStatus aclnnUpsampleNearest3dGetWorkspaceSize(
    const aclTensor* self, const aclIntArray* outputSize, double scalesD, double scalesH,
    double scalesW, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase two: launches the plan on `stream`; releases the executor unless it is repeatable.
ACLNN_API aclnnStatus aclnnUpsampleNearest3d(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_3D_H_
