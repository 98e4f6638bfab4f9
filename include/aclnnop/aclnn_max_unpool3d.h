// SPDX-License-Identifier: Apache-2.0
//
// Max unpooling of volumes: outRef is set to 0, and each element of self is put to its index.
// `indices` are INT64 or INT32 positions in outRef's flattened D, H, W; of those that repeat, the
// last one counts. `outputSize`, `stride` and `padding` hold three integers each, for D, H, W.
#ifndef SOFTNPU_INCLUDE_ACLNNOP_ACLNN_MAX_UNPOOL3D_H_
#define SOFTNPU_INCLUDE_ACLNNOP_ACLNN_MAX_UNPOOL3D_H_

#include "../aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase one: checks the arguments, plans, and says how many bytes of device memory phase two needs.
ACLNN_API aclnnStatus aclnnMaxUnpool3dGetWorkspaceSize(
    const aclTensor* self, const aclTensor* indices, const aclIntArray* outputSize,
    const aclIntArray* stride, const aclIntArray* padding, aclTensor* outRef,
    uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase two: launches the plan on `stream`; releases the executor unless it is repeatable.
ACLNN_API aclnnStatus aclnnMaxUnpool3d(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNNOP_ACLNN_MAX_UNPOOL3D_H_
