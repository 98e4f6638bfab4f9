// SPDX-License-Identifier: Apache-2.0
//
// The smooth L1 loss of `self` and `target`. `reduction`: 0 none, 1 mean, 2 sum.
#ifndef SOFTNPU_INCLUDE_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_
#define SOFTNPU_INCLUDE_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_

#include "../aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase one: checks the arguments, plans, and says how many bytes of device memory phase two needs.
ACLNN_API aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(const aclTensor* self,
                                                        const aclTensor* target, int64_t reduction,
                                                        float beta, aclTensor* result,
                                                        uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);

// Phase two: launches the plan on `stream`; releases the executor unless it is repeatable.
ACLNN_API aclnnStatus aclnnSmoothL1Loss(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_
