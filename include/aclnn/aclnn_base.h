// SPDX-License-Identifier: Apache-2.0
//
// Included by every operator header: the descriptors, and the operator library's initialisation.
#ifndef SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_
#define SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_

#include "acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase two of an operator requires a workspace that is aligned to 64 bytes, like aclrtMalloc's
// memory; otherwise, if phase one planned one, it returns 161002. Besides the operators' codes, it
// may return ACL_ERROR_RT_CONTEXT_NULL (the thread has no device, and stream is null) and
// ACL_ERROR_RT_STREAM_CONTEXT (the stream belongs to another context). Without host memory both
// phases return 561103, change nothing and can be repeated.

// Programs that call aclInit need not call these. `configPath` may be null.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_
