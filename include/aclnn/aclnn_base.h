// SPDX-License-Identifier: Apache-2.0
//
// What every operator header needs: the descriptors, and the operator library's own start and end.
#ifndef SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_
#define SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_

#include "acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Programs that call aclInit need not call these; `configPath` may be null.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_
