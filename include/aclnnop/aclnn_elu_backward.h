// SPDX-License-Identifier: Apache-2.0
//
// Gradient of elu. `selfOrResult` is the forward's output when `isResult` is true, else its input.
#ifndef SOFTNPU_INCLUDE_ACLNNOP_ACLNN_ELU_BACKWARD_H_
#define SOFTNPU_INCLUDE_ACLNNOP_ACLNN_ELU_BACKWARD_H_

#include "../aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase one: checks the arguments, plans, and says how many bytes of device memory phase two needs.
ACLNN_API aclnnStatus aclnnEluBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclScalar* alpha, const aclScalar* scale,
    const aclScalar* inputScale, bool isResult, const aclTensor* selfOrResult, aclTensor* gradInput,
    uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase two: launches the plan on `stream`; releases the executor unless it is repeatable.
ACLNN_API aclnnStatus aclnnEluBackward(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNNOP_ACLNN_ELU_BACKWARD_H_
