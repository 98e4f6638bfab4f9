// SPDX-License-Identifier: Apache-2.0
//
// Start and end of a program's use of the device, and its latest message. Clean C99 and C++11.
#ifndef SOFTNPU_INCLUDE_ACL_ACL_H_
#define SOFTNPU_INCLUDE_ACL_ACL_H_

#include "acl_base.h"
#include "acl_op.h"
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

// ---- graphs: work that is captured once and executed often --------------------------------------

// A graph. It may be executed while another thread destroys it: what was launched still runs.
typedef void* aclmdlRI;

// Which threads aclrtMemcpy, aclrtMemcpy2d and aclrtMemset are forbidden to during the capture, as
// they would run at once: all, the one that began it, or none.
typedef enum {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2
} aclmdlRICaptureMode;

typedef enum {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2
} aclmdlRICaptureStatus;

// From now on operators, asynchronous copies and fills, host functions, and records of and waits
// for events are recorded and not run. A stream that waits for an event recorded in a captured
// stream joins the capture; the stream that began it must wait for its work before the end.
// Whatever waits for a captured stream is an error.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

// `stream` is the one that began the capture. It ends in any case unless an argument is wrong;
// where a failure spoilt it, `*modelRI` is null.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

// `*modelRI` is null unless the stream is captured; until the capture ends it is no graph to use.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus* status,
                                                    aclmdlRI* modelRI);

// Runs the captured work in the stream's order, with the captured addresses. Memory that was freed
// since the capture is an error, and nothing runs.
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACL_ACL_H_
