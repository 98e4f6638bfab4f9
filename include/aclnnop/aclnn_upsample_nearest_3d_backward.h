// SPDX-License-Identifier: Apache-2.0
//
// Gradient of the nearest upsampling of volumes. `outputSize` is gradOut's D, H, W; `inputSize` is
// gradInput's whole shape; scales are output over input, and 0 or less means that they follow from
// the sizes.
#ifndef SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_3D_BACKWARD_H_
#define SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_3D_BACKWARD_H_

#include "../aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase one: checks the arguments, plans, and says how many bytes of device memory phase two needs.
ACLNN_API aclnnStatus aclnnUpsampleNearest3dBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclIntArray* outputSize, const aclIntArray* inputSize,
    double scalesD, double scalesH, double scalesW, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);

// Phase two: launches the plan on `stream`; releases the executor unless it is repeatable.
ACLNN_API aclnnStatus aclnnUpsampleNearest3dBackward(void* workspace, uint64_t workspaceSize,
                                                     aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_3D_BACKWARD_H_
