// SPDX-License-Identifier: Apache-2.0
//
// Gradient of max unpooling of volumes. `indices` are INT64 positions in gradOutput's flattened D,
// H, W; `outputSize`, `stride` and `padding` hold three integers each, for D, H, W.
#ifndef SOFTNPU_INCLUDE_ACLNNOP_ACLNN_MAX_UNPOOL3D_BACKWARD_H_
#define SOFTNPU_INCLUDE_ACLNNOP_ACLNN_MAX_UNPOOL3D_BACKWARD_H_

#include "../aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase one: checks the arguments, plans, and says how many bytes of device memory phase two needs.
ACLNN_API aclnnStatus aclnnMaxUnpool3dBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* indices,
    const aclIntArray* outputSize, const aclIntArray* stride, const aclIntArray* padding,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase two: launches the plan on `stream`; releases the executor unless it is repeatable.
ACLNN_API aclnnStatus aclnnMaxUnpool3dBackward(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNNOP_ACLNN_MAX_UNPOOL3D_BACKWARD_H_
