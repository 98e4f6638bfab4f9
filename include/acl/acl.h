// SPDX-License-Identifier: Apache-2.0
//
// Start and end of a program's use of the device, and its latest message. Clean C99 and C++11.
#ifndef SOFTNPU_INCLUDE_ACL_ACL_H_
#define SOFTNPU_INCLUDE_ACL_ACL_H_

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// `configPath` names a JSON file, or is null. A second call gives ACL_ERROR_REPEAT_INITIALIZE and
// does no harm.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

// Releases what the process holds on all devices. Without aclInit: ACL_ERROR_REPEAT_FINALIZE.
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

// Returns and clears this thread's latest message, null when there is none. The pointer stays valid
// until this thread calls the function again.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACL_ACL_H_
