# SPDX-License-Identifier: Apache-2.0
"""The documented names of the C API, with values and types: what the headers are held against."""

from tests.support.contract import OPERATORS as CONTRACTS
from tests.support.contract import Argument, contract


def _enum(prefix: str, members: str, **others: int) -> dict[str, int]:
    """Reads "NAME value, NAME value"; `others` are the members without the common prefix."""
    pairs = (member.split() for member in members.split(","))
    return {**{prefix + name: int(value) for name, value in pairs}, **others}


ENUMS = {
    "aclDataType": _enum(
        "ACL_",
        "DT_UNDEFINED -1, FLOAT 0, FLOAT16 1, INT8 2, INT32 3, UINT8 4, INT16 6, UINT16 7,"
        "UINT32 8, INT64 9, UINT64 10, DOUBLE 11, BOOL 12, STRING 13, COMPLEX64 16,"
        "COMPLEX128 17, BF16 27, INT4 29, UINT1 30, COMPLEX32 33",
    ),
    "aclFormat": _enum(
        "ACL_FORMAT_",
        "UNDEFINED -1, NCHW 0, NHWC 1, ND 2, NC1HWC0 3, FRACTAL_Z 4, NC1HWC0_C04 12, HWCN 16,"
        "NDHWC 27, FRACTAL_NZ 29, NCDHW 30, NDC1HWC0 32, NC 35, NCL 47",
        ACL_FRACTAL_Z_3D=33,
    ),
    "aclrtMemcpyKind": _enum(
        "ACL_MEMCPY_",
        "HOST_TO_HOST 0, HOST_TO_DEVICE 1, DEVICE_TO_HOST 2, DEVICE_TO_DEVICE 3, DEFAULT 4",
    ),
    "aclrtMemMallocPolicy": _enum(
        "ACL_MEM_MALLOC_",
        "HUGE_FIRST 0, HUGE_ONLY 1, NORMAL_ONLY 2,"
        "HUGE_FIRST_P2P 3, HUGE_ONLY_P2P 4, NORMAL_ONLY_P2P 5",
    ),
    "aclrtMemAttr": _enum(
        "ACL_",
        "DDR_MEM 0, HBM_MEM 1, DDR_MEM_HUGE 2, DDR_MEM_NORMAL 3, HBM_MEM_HUGE 4, HBM_MEM_NORMAL 5",
    ),
    "aclrtMemLocationType": _enum("ACL_MEM_LOCATION_TYPE_", "HOST 0, DEVICE 1"),
    "aclrtMemHandleType": _enum("ACL_MEM_HANDLE_TYPE_", "NONE 0"),
    "aclrtMemAllocationType": _enum("ACL_MEM_ALLOCATION_TYPE_", "PINNED 0"),
    "aclrtMemGranularityOptions": _enum(
        "ACL_RT_MEM_ALLOC_GRANULARITY_", "MINIMUM 0, RECOMMENDED 1"
    ),
    "aclrtDevAttr": _enum("ACL_DEV_ATTR_", "AICORE_CORE_NUM 0, VECTOR_CORE_NUM 1, L2_CACHE_SIZE 2"),
    "aclDeviceInfo": _enum("ACL_DEVICE_INFO_", "AI_CORE_NUM 0, VECTOR_CORE_NUM 1, L2_SIZE 2"),
    "aclSysParamOpt": _enum(
        "ACL_OPT_", "DETERMINISTIC 0, ENABLE_DEBUG_KERNEL 1, STRONG_CONSISTENCY 2"
    ),
    "aclrtRunMode": _enum("ACL_", "DEVICE 0, HOST 1"),
    "aclrtLastErrLevel": _enum("ACL_RT_", "THREAD_LEVEL 0"),
    "aclrtEventStatus": _enum("ACL_EVENT_STATUS_", "COMPLETE 0, NOT_READY 1"),
    "aclrtEventRecordedStatus": _enum("ACL_EVENT_RECORDED_STATUS_", "NOT_READY 0, COMPLETE 1"),
    "aclrtEventWaitStatus": _enum("ACL_EVENT_WAIT_STATUS_", "COMPLETE 0, NOT_READY 1"),
    "aclrtStreamStatus": _enum("ACL_STREAM_STATUS_", "COMPLETE 0, NOT_READY 1"),
    "aclrtCallbackBlockType": _enum("ACL_CALLBACK_", "NO_BLOCK 0, BLOCK 1"),
    "aclmdlRICaptureMode": _enum(
        "ACL_MODEL_RI_CAPTURE_MODE_", "GLOBAL 0, THREAD_LOCAL 1, RELAXED 2"
    ),
    "aclmdlRICaptureStatus": _enum(
        "ACL_MODEL_RI_CAPTURE_STATUS_", "NONE 0, ACTIVE 1, INVALIDATED 2"
    ),
}

CODES = {
    **_enum("ACL_", "SUCCESS 0"),
    **_enum(
        "ACL_ERROR_",
        "NONE 0, INVALID_PARAM 100000, UNINITIALIZE 100001, REPEAT_INITIALIZE 100002,"
        "INVALID_FILE 100003, PARSE_FILE 100006, REPEAT_FINALIZE 100037, BAD_ALLOC 200000,"
        "API_NOT_SUPPORT 200001, FEATURE_UNSUPPORTED 200006, INTERNAL_ERROR 500000, FAILURE 500001",
    ),
    **_enum(
        "ACL_ERROR_RT_",
        "PARAM_INVALID 107000, INVALID_DEVICEID 107001, CONTEXT_NULL 107002, STREAM_CONTEXT 107003,"
        "EVENT_TIMESTAMP_INVALID 107006, EVENT_TIMESTAMP_REVERSAL 107007, INVALID_HANDLE 107017,"
        "SYSPARAMOPT_NOT_SET 107021, FEATURE_NOT_SUPPORT 207000, MEMORY_ALLOCATION 207001,"
        "MEMORY_FREE 207002, RESOURCE_ALLOC_FAIL 207005, INTERNAL_ERROR 507000,"
        "STREAM_SYNC_TIMEOUT 507046, EVENT_SYNC_TIMEOUT 507047",
    ),
    **_enum("ACL_EVENT_", "SYNC 1, CAPTURE_STREAM_PROGRESS 2, TIME_LINE 8"),
    **_enum("ACL_STREAM_", "FAST_LAUNCH 1, FAST_SYNC 2"),
    **_enum(
        "ACLNN_",
        "SUCCESS 0, ERR_PARAM_NULLPTR 161001, ERR_PARAM_INVALID 161002, ERR_RUNTIME_ERROR 361001,"
        "ERR_INNER_FIND_KERNEL_ERROR 561003, ERR_INNER_CREATE_EXECUTOR 561101,"
        "ERR_INNER_NULLPTR 561103",
    ),
}

OPERATORS = tuple(contract(op).operator for op in CONTRACTS)

_NAMES = """
aclInit aclFinalize aclGetRecentErrMsg aclDataTypeSize aclFloatToFloat16 aclFloat16ToFloat
aclrtGetSocName aclrtGetVersion aclrtGetRunMode aclrtGetLastError aclrtPeekAtLastError
aclrtGetDeviceCount aclrtSetDevice aclrtGetDevice aclrtResetDevice aclrtResetDeviceForce
aclrtSynchronizeDevice aclrtSynchronizeDeviceWithTimeout
aclrtCreateContext aclrtDestroyContext aclrtSetCurrentContext aclrtGetCurrentContext
aclrtCtxGetCurrentDefaultStream aclrtCtxSetSysParamOpt aclrtCtxGetSysParamOpt
aclrtSetSysParamOpt aclrtGetSysParamOpt
aclrtCreateStream aclrtCreateStreamWithConfig aclrtDestroyStream aclrtDestroyStreamForce
aclrtSynchronizeStream aclrtSynchronizeStreamWithTimeout aclrtStreamQuery aclrtStreamGetId
aclrtStreamGetFlags aclrtStreamGetPriority
aclrtCreateEvent aclrtCreateEventWithFlag aclrtCreateEventExWithFlag aclrtDestroyEvent
aclrtRecordEvent aclrtResetEvent aclrtStreamWaitEvent aclrtSynchronizeEvent
aclrtSynchronizeEventWithTimeout aclrtQueryEvent aclrtQueryEventStatus aclrtQueryEventWaitStatus
aclrtEventElapsedTime aclrtEventGetTimestamp
aclrtMalloc aclrtMallocAlign32 aclrtMallocCached aclrtFree aclrtFreeWithDevSync aclrtMallocHost
aclrtFreeHost aclrtGetMemInfo aclrtMemcpy aclrtMemcpyAsync aclrtMemset aclrtMemsetAsync
aclrtMemcpy2d aclrtMemcpy2dAsync aclrtMemcpyBatchAsync
aclrtReserveMemAddress aclrtReleaseMemAddress aclrtMallocPhysical aclrtFreePhysical
aclrtMapMem aclrtUnmapMem aclrtMemGetAllocationGranularity
aclrtGetDeviceInfo aclGetDeviceCapability aclrtGetDeviceCapability aclopSetModelDir
aclrtLaunchCallback aclrtSubscribeReport aclrtUnSubscribeReport aclrtProcessReport
aclrtLaunchHostFunc
aclmdlRICaptureBegin aclmdlRICaptureEnd aclmdlRICaptureGetInfo aclmdlRIExecuteAsync aclmdlRIDestroy
aclnnInit aclnnFinalize
aclCreateTensor aclInitTensor aclDestroyTensor aclGetViewShape aclGetStorageShape
aclGetViewStrides aclGetViewOffset aclGetFormat aclGetDataType aclSetRawTensorAddr
aclGetRawTensorAddr
aclCreateScalar aclDestroyScalar
aclCreateIntArray aclDestroyIntArray aclGetIntArraySize
aclCreateFloatArray aclDestroyFloatArray aclGetFloatArraySize
aclCreateBoolArray aclDestroyBoolArray aclGetBoolArraySize
aclCreateTensorList aclDestroyTensorList aclGetTensorListSize
aclCreateScalarList aclDestroyScalarList aclGetScalarListSize
aclSetAclOpExecutorRepeatable aclDestroyAclOpExecutor aclSetInputTensorAddr
aclSetOutputTensorAddr aclSetTensorAddr
AclSetAclOpExecutorRepeatable AclSetInputTensorAddr AclSetOutputTensorAddr AclSetTensorAddr
"""

FUNCTIONS = _NAMES.split() + [
    name + phase for name in OPERATORS for phase in ("GetWorkspaceSize", "")
]

_PHASE_TWO = "aclnnStatus (*)(void *, uint64_t, aclOpExecutor *, aclrtStream)"
_PLANNED = "uint64_t *, aclOpExecutor **)"
_C_TYPES = {
    "scalar": "const aclScalar *",
    "int_array": "const aclIntArray *",
    "int": "int64_t",
    "float": "float",
    "double": "double",
    "bool": "bool",
}
_SET_ADDRESS = "aclnnStatus (*)(aclOpExecutor *, size_t, aclTensor *, void *)"


def _c_type(argument: Argument) -> str:
    if argument.kind == "tensor":
        return "aclTensor *" if argument.is_output else "const aclTensor *"
    return _C_TYPES[argument.kind]


SIGNATURES = {
    "aclInit": "aclError (*)(const char *)",
    "aclGetRecentErrMsg": "const char *(*)()",
    "aclrtGetSocName": "const char *(*)()",
    "aclrtGetDeviceCount": "aclError (*)(uint32_t *)",
    "aclrtGetVersion": "aclError (*)(int32_t *, int32_t *, int32_t *)",
    "aclrtCreateContext": "aclError (*)(aclrtContext *, int32_t)",
    "aclrtCreateStream": "aclError (*)(aclrtStream *)",
    "aclrtCreateStreamWithConfig": "aclError (*)(aclrtStream *, uint32_t, uint32_t)",
    "aclrtSynchronizeStreamWithTimeout": "aclError (*)(aclrtStream, int32_t)",
    "aclrtStreamQuery": "aclError (*)(aclrtStream, aclrtStreamStatus *)",
    "aclrtRecordEvent": "aclError (*)(aclrtEvent, aclrtStream)",
    "aclrtStreamWaitEvent": "aclError (*)(aclrtStream, aclrtEvent)",
    "aclrtQueryEvent": "aclError (*)(aclrtEvent, aclrtEventStatus *)",
    "aclrtQueryEventStatus": "aclError (*)(aclrtEvent, aclrtEventRecordedStatus *)",
    "aclrtQueryEventWaitStatus": "aclError (*)(aclrtEvent, aclrtEventWaitStatus *)",
    "aclrtEventElapsedTime": "aclError (*)(float *, aclrtEvent, aclrtEvent)",
    "aclrtEventGetTimestamp": "aclError (*)(aclrtEvent, uint64_t *)",
    "aclrtMalloc": "aclError (*)(void **, size_t, aclrtMemMallocPolicy)",
    "aclrtMallocHost": "aclError (*)(void **, size_t)",
    "aclrtMemcpy": "aclError (*)(void *, size_t, const void *, size_t, aclrtMemcpyKind)",
    "aclrtMemcpyAsync": "aclError (*)(void *, size_t, const void *, size_t, aclrtMemcpyKind,"
    " aclrtStream)",
    "aclrtMemcpyBatchAsync": "aclError (*)(void **, size_t *, void **, size_t *, size_t,"
    " aclrtMemcpyBatchAttr *, size_t *, size_t, size_t *, aclrtStream)",
    "aclrtReserveMemAddress": "aclError (*)(void **, size_t, size_t, void *, uint64_t)",
    "aclrtReleaseMemAddress": "aclError (*)(void *)",
    "aclrtMallocPhysical": "aclError (*)(aclrtDrvMemHandle *, size_t,"
    " const aclrtPhysicalMemProp *, uint64_t)",
    "aclrtFreePhysical": "aclError (*)(aclrtDrvMemHandle)",
    "aclrtMapMem": "aclError (*)(void *, size_t, size_t, aclrtDrvMemHandle, uint64_t)",
    "aclrtUnmapMem": "aclError (*)(void *)",
    "aclrtMemGetAllocationGranularity": "aclError (*)(aclrtPhysicalMemProp *,"
    " aclrtMemGranularityOptions, size_t *)",
    "aclrtGetDeviceInfo": "aclError (*)(uint32_t, aclrtDevAttr, int64_t *)",
    "aclGetDeviceCapability": "aclError (*)(uint32_t, aclDeviceInfo, int64_t *)",
    "aclrtGetDeviceCapability": "aclError (*)(uint32_t, aclDeviceInfo, int64_t *)",
    "aclopSetModelDir": "aclError (*)(const char *)",
    "aclrtMemset": "aclError (*)(void *, size_t, int32_t, size_t)",
    "aclrtMemcpy2d": "aclError (*)(void *, size_t, const void *, size_t, size_t, size_t,"
    " aclrtMemcpyKind)",
    "aclrtGetMemInfo": "aclError (*)(aclrtMemAttr, size_t *, size_t *)",
    "aclrtCtxSetSysParamOpt": "aclError (*)(aclSysParamOpt, int64_t)",
    "aclrtLaunchCallback": "aclError (*)(aclrtCallback, void *, aclrtCallbackBlockType,"
    " aclrtStream)",
    "aclrtLaunchHostFunc": "aclError (*)(aclrtStream, aclrtHostFunc, void *)",
    "aclmdlRICaptureBegin": "aclError (*)(aclrtStream, aclmdlRICaptureMode)",
    "aclmdlRICaptureEnd": "aclError (*)(aclrtStream, aclmdlRI *)",
    "aclmdlRICaptureGetInfo": "aclError (*)(aclrtStream, aclmdlRICaptureStatus *, aclmdlRI *)",
    "aclmdlRIExecuteAsync": "aclError (*)(aclmdlRI, aclrtStream)",
    "aclmdlRIDestroy": "aclError (*)(aclmdlRI)",
    "aclFloatToFloat16": "aclFloat16 (*)(float)",
    "aclFloat16ToFloat": "float (*)(aclFloat16)",
    "aclDataTypeSize": "size_t (*)(aclDataType)",
    "aclnnInit": "aclnnStatus (*)(const char *)",
    "aclnnFinalize": "aclnnStatus (*)()",
    "aclCreateTensor": "aclTensor *(*)(const int64_t *, uint64_t, aclDataType, const int64_t *,"
    " int64_t, aclFormat, const int64_t *, uint64_t, void *)",
    "aclDestroyTensor": "aclnnStatus (*)(const aclTensor *)",
    "aclCreateScalar": "aclScalar *(*)(void *, aclDataType)",
    "aclDestroyScalar": "aclnnStatus (*)(const aclScalar *)",
    "aclCreateIntArray": "aclIntArray *(*)(const int64_t *, uint64_t)",
    "aclDestroyIntArray": "aclnnStatus (*)(const aclIntArray *)",
    "aclCreateBoolArray": "aclBoolArray *(*)(const bool *, uint64_t)",
    "aclCreateTensorList": "aclTensorList *(*)(const aclTensor *const *, uint64_t)",
    "aclGetViewShape": "aclnnStatus (*)(const aclTensor *, int64_t **, uint64_t *)",
    "aclSetTensorAddr": _SET_ADDRESS,
    "AclSetInputTensorAddr": _SET_ADDRESS,
    **{
        spec.operator + "GetWorkspaceSize": "aclnnStatus (*)("
        + ", ".join([_c_type(argument) for argument in spec.arguments] + [_PLANNED])
        for spec in map(contract, CONTRACTS)
    },
    **dict.fromkeys(OPERATORS, _PHASE_TWO),
}
