// SPDX-License-Identifier: Apache-2.0
//
// What every operator header needs: the descriptors, and the operator library's own start and end.
#ifndef SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_
#define SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_

#include "acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase two of an operator takes a workspace that is aligned to 64 bytes, as aclrtMalloc's memory
// is; where phase one planned one, others give 161002. Beside the codes of the operators' table it
// may give ACL_ERROR_RT_CONTEXT_NULL (the thread has no device, and stream is null) and
// ACL_ERROR_RT_STREAM_CONTEXT (the stream belongs to another context). Without host memory both
// phases give 561103, change nothing and can be repeated.

// Programs that call aclInit need not call these; `configPath` may be null.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACLNN_ACLNN_BASE_H_
