// SPDX-License-Identifier: Apache-2.0
//
// Begin and end of a program's use of the device, and its latest message. Clean C99 and C++11.
#ifndef SOFTNPU_INCLUDE_ACL_ACL_H_
#define SOFTNPU_INCLUDE_ACL_ACL_H_

#include "acl_base.h"
#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// `configPath` is the path of a JSON file, or null. A second call returns
// ACL_ERROR_REPEAT_INITIALIZE and has no effect.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

// Releases the process's objects on all devices. Returns ACL_ERROR_REPEAT_FINALIZE without aclInit.
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

// Returns and clears this thread's latest message; null if there is none. The pointer is valid
// until this thread calls the function again.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

#define ACL_PKG_VERSION_MAX_SIZE 128

// The version of the toolkit whose interface softnpu has, "8.5.0" and 80500000, for any package
// name. `versionStr` has room for ACL_PKG_VERSION_MAX_SIZE bytes.
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* pkgName, char* versionStr);
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum);

// ---- graphs: work that is captured once and executed many times ---------------------------------

// A graph. Another thread may destroy it while it is executed: work that was launched still runs.
typedef void* aclmdlRI;

// The threads that must not call aclrtMemcpy, aclrtMemcpy2d and aclrtMemset during the capture,
// because they would run immediately: all threads, the one that began the capture, or none.
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

// From now on, operators, asynchronous copies and fills, host functions, and records of and waits
// for events are recorded and do not run. A stream that waits for an event of a captured stream
// joins the capture. The stream that began it must wait for the work of joined streams before the
// capture ends. Waiting for a captured stream is an error.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

// `stream` must be the one that began the capture. The capture ends unless an argument is invalid;
// `*modelRI` is null if the capture failed.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

// `*modelRI` is null unless the stream is captured. The graph cannot be used until the capture
// ends.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus* status,
                                                    aclmdlRI* modelRI);

// Runs the captured work in the stream's order, with the captured addresses. If memory was freed
// since the capture, this is an error and nothing runs.
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

// The same in the default stream of the current context, and waits for it. Returns the failures of
// that stream.
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

// Executions that were launched before run no more of the captured work, and fail. Returns at once.
ACL_FUNC_VISIBILITY aclError aclmdlRIAbort(aclmdlRI modelRI);

ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

// A task group is work that a captured stream captures between the first two calls. Work that is
// launched in a stream between the other two does not run: when the update ends, it replaces the
// group's, which must be of the same functions in the same order. Executions that are launched
// later run it. The handle is valid as long as the graph.
typedef void* aclrtTaskGrp;
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream,
                                                            aclrtTaskGrp handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

// Sets the calling thread's mode, and returns the earlier one in `*mode`: with THREAD_LOCAL, only
// captures that this thread began forbid its calls of aclrtMemcpy and the like; with RELAXED, none.
// A thread starts with GLOBAL.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

// A graph's name is empty until it is set. `maxLen` is the size of `name`, which must have room for
// the name and its null character.
ACL_FUNC_VISIBILITY aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);

// Writes a line for each captured call to stderr, or to a JSON file that trace viewers read, in the
// order in which they run. `flags` is ignored.
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path,
                                                    uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACL_ACL_H_
