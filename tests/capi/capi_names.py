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
        "COMPLEX128 17, BF16 27, INT4 29, UINT1 30, COMPLEX32 33,"
        "HIFLOAT8 34, FLOAT8_E5M2 35, FLOAT8_E4M3FN 36, FLOAT8_E8M0 37, FLOAT6_E3M2 38,"
        "FLOAT6_E2M3 39, FLOAT4_E2M1 40, FLOAT4_E1M2 41",
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
    "aclrtMemLocationType": _enum("ACL_MEM_LOCATION_TYPE_", "HOST 0, DEVICE 1, UNREGISTERED 2"),
    "aclrtHostRegisterType": _enum("ACL_HOST_REGISTER_", "MAPPED 0"),
    "aclrtCmoType": _enum("ACL_RT_CMO_TYPE_", "PREFETCH 0, WRITEBACK 1, INVALID 2, FLUSH 3"),
    "aclLogLevel": _enum("ACL_", "DEBUG 0, INFO 1, WARNING 2, ERROR 3"),
    "aclMemType": _enum("ACL_MEMTYPE_", "DEVICE 0, HOST 1, HOST_COMPILE_INDEPENDENT 2"),
    "aclopEngineType": _enum("ACL_ENGINE_", "SYS 0, AICORE 1, VECTOR 2"),
    "aclopCompileType": _enum("ACL_COMPILE_", "SYS 0, UNREGISTERED 1"),
    "aclCompileOpt": _enum(
        "ACL_", "PRECISION_MODE 0, OP_JIT_COMPILE 10, OP_DETERMINISTIC 11, ALLOW_HF32 14"
    ),
    "aclprofAicoreMetrics": _enum(
        "ACL_AICORE_", "ARITHMETIC_UTILIZATION 0, PIPE_UTILIZATION 1, NONE 255"
    ),
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
    **_enum("ACL_", "SUCCESS 0, RT_SUCCESS 0"),
    **_enum(
        "ACL_ERROR_",
        "NONE 0, INVALID_PARAM 100000, UNINITIALIZE 100001, REPEAT_INITIALIZE 100002,"
        "INVALID_FILE 100003, PARSE_FILE 100006, REPEAT_FINALIZE 100037, BAD_ALLOC 200000,"
        "API_NOT_SUPPORT 200001, FEATURE_UNSUPPORTED 200006, INTERNAL_ERROR 500000, FAILURE 500001",
    ),
    **_enum(
        "ACL_ERROR_",
        "WRITE_FILE 100004, INVALID_FILE_SIZE 100005, FILE_MISSING_ATTR 100007,"
        "FILE_ATTR_INVALID 100008, INVALID_DUMP_CONFIG 100009, INVALID_PROFILING_CONFIG 100010,"
        "INVALID_MODEL_ID 100011, DESERIALIZE_MODEL 100012, PARSE_MODEL 100013,"
        "READ_MODEL_FAILURE 100014, MODEL_SIZE_INVALID 100015, MODEL_MISSING_ATTR 100016,"
        "MODEL_INPUT_NOT_MATCH 100017, MODEL_OUTPUT_NOT_MATCH 100018, MODEL_NOT_DYNAMIC 100019,"
        "OP_TYPE_NOT_MATCH 100020, OP_INPUT_NOT_MATCH 100021, OP_OUTPUT_NOT_MATCH 100022,"
        "OP_ATTR_NOT_MATCH 100023, OP_NOT_FOUND 100024, OP_LOAD_FAILED 100025,"
        "UNSUPPORTED_DATA_TYPE 100026, FORMAT_NOT_MATCH 100027,"
        "BIN_SELECTOR_NOT_REGISTERED 100028, KERNEL_NOT_FOUND 100029,"
        "BIN_SELECTOR_ALREADY_REGISTERED 100030, KERNEL_ALREADY_REGISTERED 100031,"
        "INVALID_QUEUE_ID 100032, REPEAT_SUBSCRIBE 100033, STREAM_NOT_SUBSCRIBE 100034,"
        "THREAD_NOT_SUBSCRIBE 100035, WAIT_CALLBACK_TIMEOUT 100036, NOT_STATIC_AIPP 100038,"
        "COMPILING_STUB_MODE 100039, GROUP_NOT_SET 100040, GROUP_NOT_CREATE 100041,"
        "PROF_ALREADY_RUN 100042, PROF_NOT_RUN 100043, DUMP_ALREADY_RUN 100044,"
        "DUMP_NOT_RUN 100045, PROF_REPEAT_SUBSCRIBE 148046, PROF_API_CONFLICT 148047,"
        "INVALID_MAX_OPQUEUE_NUM_CONFIG 148048, INVALID_OPP_PATH 148049,"
        "OP_UNSUPPORTED_DYNAMIC 148050, RELATIVE_RESOURCE_NOT_CLEARED 148051,"
        "UNSUPPORTED_JPEG 148052, INVALID_BUNDLE_MODEL_ID 148053, INVALID_DEVICE 200002,"
        "MEMORY_ADDRESS_UNALIGNED 200003, RESOURCE_NOT_MATCH 200004,"
        "INVALID_RESOURCE_HANDLE 200005, PROF_MODULES_UNSUPPORTED 200007,"
        "STORAGE_OVER_LIMIT 300000, GE_FAILURE 500002, DRV_FAILURE 500004,"
        "PROFILING_FAILURE 500005",
    ),
    **_enum(
        "ACL_ERROR_RT_",
        "PARAM_INVALID 107000, INVALID_DEVICEID 107001, CONTEXT_NULL 107002, STREAM_CONTEXT 107003,"
        "EVENT_TIMESTAMP_INVALID 107006, EVENT_TIMESTAMP_REVERSAL 107007, INVALID_HANDLE 107017,"
        "SYSPARAMOPT_NOT_SET 107021, FEATURE_NOT_SUPPORT 207000, MEMORY_ALLOCATION 207001,"
        "MEMORY_FREE 207002, RESOURCE_ALLOC_FAIL 207005, INTERNAL_ERROR 507000,"
        "STREAM_SYNC_TIMEOUT 507046, EVENT_SYNC_TIMEOUT 507047, AICORE_EXCEPTION 507015",
    ),
    **_enum(
        "ACL_ERROR_RT_",
        "MODEL_CONTEXT 107004, STREAM_MODEL 107005, ADDR_UNALIGNED 107008, FILE_OPEN 107009,"
        "FILE_WRITE 107010, STREAM_SUBSCRIBE 107011, THREAD_SUBSCRIBE 107012,"
        "GROUP_NOT_SET 107013, GROUP_NOT_CREATE 107014, STREAM_NO_CB_REG 107015,"
        "INVALID_MEMORY_TYPE 107016, INVALID_MALLOC_TYPE 107018, WAIT_TIMEOUT 107019,"
        "TASK_TIMEOUT 107020, DEVICE_TASK_ABORT 107022, AICORE_OVER_FLOW 207003, NO_DEVICE 207004,"
        "NO_PERMISSION 207006, NO_EVENT_RESOURCE 207007, NO_STREAM_RESOURCE 207008,"
        "NO_NOTIFY_RESOURCE 207009, NO_MODEL_RESOURCE 207010, NO_CDQ_RESOURCE 207011,"
        "OVER_LIMIT 207012, QUEUE_EMPTY 207013, QUEUE_FULL 207014, REPEATED_INIT 207015,"
        "AIVEC_OVER_FLOW 207016, FAILURE 500003, TS_ERROR 507001, STREAM_TASK_FULL 507002,"
        "STREAM_TASK_EMPTY 507003, STREAM_NOT_COMPLETE 507004, END_OF_SEQUENCE 507005,"
        "EVENT_NOT_COMPLETE 507006, CONTEXT_RELEASE_ERROR 507007, SOC_VERSION 507008,"
        "TASK_TYPE_NOT_SUPPORT 507009, LOST_HEARTBEAT 507010, MODEL_EXECUTE 507011,"
        "REPORT_TIMEOUT 507012, SYS_DMA 507013, AICORE_TIMEOUT 507014,"
        "AICORE_TRAP_EXCEPTION 507016, AICPU_TIMEOUT 507017, AICPU_EXCEPTION 507018,"
        "AICPU_DATADUMP_RSP_ERR 507019, AICPU_MODEL_RSP_ERR 507020, PROFILING_ERROR 507021,"
        "IPC_ERROR 507022, MODEL_ABORT_NORMAL 507023, KERNEL_UNREGISTERING 507024,"
        "RINGBUFFER_NOT_INIT 507025, RINGBUFFER_NO_DATA 507026, KERNEL_LOOKUP 507027,"
        "KERNEL_DUPLICATE 507028, DEBUG_REGISTER_FAIL 507029, DEBUG_UNREGISTER_FAIL 507030,"
        "LABEL_CONTEXT 507031, PROGRAM_USE_OUT 507032, DEV_SETUP_ERROR 507033,"
        "VECTOR_CORE_TIMEOUT 507034, VECTOR_CORE_EXCEPTION 507035,"
        "VECTOR_CORE_TRAP_EXCEPTION 507036, CDQ_BATCH_ABNORMAL 507037,"
        "DIE_MODE_CHANGE_ERROR 507038, DIE_SET_ERROR 507039, INVALID_DIEID 507040,"
        "DIE_MODE_NOT_SET 507041, FFTS_PLUS_TIMEOUT 507048, FFTS_PLUS_EXCEPTION 507049,"
        "FFTS_PLUS_TRAP_EXCEPTION 507050, SEND_MSG 507051, COPY_DATA 507052,"
        "DEVICE_MEM_ERROR 507053, HBM_MULTI_BIT_ECC_ERROR 507054, SUSPECT_DEVICE_MEM_ERROR 507055,"
        "LINK_ERROR 507056, SUSPECT_REMOTE_ERROR 507057, DRV_INTERNAL_ERROR 507899,"
        "AICPU_INTERNAL_ERROR 507900, SOCKET_CLOSE 507901",
    ),
    **_enum("ACL_EVENT_", "SYNC 1, CAPTURE_STREAM_PROGRESS 2, TIME_LINE 8"),
    **_enum("ACL_STREAM_", "FAST_LAUNCH 1, FAST_SYNC 2"),
    **_enum("ACL_HOST_REG_", "MAPPED 2, PINNED 268435456"),
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
aclAppLog aclsysGetVersionStr aclsysGetVersionNum aclrtHostRegister aclrtHostRegisterV2
aclrtHostUnregister aclrtHostGetDevicePointer aclrtPointerGetAttributes aclrtDeviceCanAccessPeer
aclrtIpcMemGetExportKey aclrtIpcMemSetImportPid aclrtIpcMemImportByKey aclrtIpcMemClose
aclrtDeviceGetBareTgid aclrtDeviceEnablePeerAccess aclrtDeviceDisablePeerAccess
aclrtMemcpyBatch aclrtCmoAsync aclmdlRIExecute aclmdlRICaptureTaskGrpBegin aclmdlRICaptureTaskGrpEnd
aclmdlRICaptureTaskUpdateBegin aclmdlRICaptureTaskUpdateEnd aclmdlRICaptureThreadExchangeMode
aclmdlRISetName aclmdlRIGetName aclmdlRIAbort
aclmdlRIDebugPrint aclmdlRIDebugJsonPrint aclCreateTensorDesc aclDestroyTensorDesc
aclGetTensorDescType aclGetTensorDescFormat aclGetTensorDescSize aclGetTensorDescElementCount
aclGetTensorDescNumDims aclGetTensorDescDim aclGetTensorDescDimV2 aclGetTensorDescName
aclSetTensorDescName aclSetTensorFormat aclSetTensorShape aclSetTensorPlaceMent aclSetTensorConst
aclCreateDataBuffer aclDestroyDataBuffer aclUpdateDataBuffer aclGetDataBufferAddr
aclGetDataBufferSize aclGetDataBufferSizeV2 aclopCreateAttr aclopDestroyAttr aclopSetAttrBool
aclopSetAttrInt aclopSetAttrFloat aclopSetAttrString aclopSetAttrDataType aclopSetAttrListBool
aclopSetAttrListInt aclopSetAttrListFloat aclopSetAttrListString aclopSetAttrListDataType
aclopSetAttrListListInt aclopExecute aclopExecuteV2 aclSetCompileopt aclGetCompileoptSize
aclGetCompileopt aclopSetCompileFlag aclopCompile aclopCompileAndExecute aclopCompileAndExecuteV2
aclmdlLoadFromFile aclmdlLoadFromMem aclmdlLoadFromFileWithMem aclmdlLoadFromMemWithMem
aclmdlUnload aclmdlQuerySize aclmdlQuerySizeFromMem aclmdlExecute aclmdlExecuteAsync
aclmdlCreateDesc aclmdlDestroyDesc aclmdlGetDesc aclmdlGetNumInputs aclmdlGetNumOutputs
aclmdlGetInputSizeByIndex aclmdlGetOutputSizeByIndex aclmdlGetInputNameByIndex
aclmdlGetOutputNameByIndex aclmdlGetInputIndexByName aclmdlGetOutputIndexByName aclmdlGetInputDims
aclmdlGetOutputDims aclmdlGetCurOutputDims aclmdlGetInputDataType aclmdlGetOutputDataType
aclmdlGetInputFormat aclmdlGetOutputFormat aclmdlCreateDataset aclmdlDestroyDataset
aclmdlAddDatasetBuffer aclmdlGetDatasetNumBuffers aclmdlGetDatasetBuffer aclprofInit
aclprofFinalize aclprofCreateConfig aclprofDestroyConfig aclprofStart aclprofStop
aclprofCreateStamp aclprofDestroyStamp aclprofSetStampTraceMessage aclprofMark aclprofPush
aclprofPop aclprofRangeStart aclprofRangeStop
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
    "aclrtHostRegister": "aclError (*)(void *, uint64_t, aclrtHostRegisterType, void **)",
    "aclrtHostRegisterV2": "aclError (*)(void *, uint64_t, uint32_t)",
    "aclrtHostGetDevicePointer": "aclError (*)(void *, void **, uint32_t)",
    "aclrtPointerGetAttributes": "aclError (*)(const void *, aclrtPtrAttributes *)",
    "aclrtDeviceCanAccessPeer": "aclError (*)(int32_t *, int32_t, int32_t)",
    "aclrtDeviceEnablePeerAccess": "aclError (*)(int32_t, uint32_t)",
    "aclrtIpcMemGetExportKey": "aclError (*)(void *, size_t, char *, size_t, uint64_t)",
    "aclrtIpcMemSetImportPid": "aclError (*)(const char *, int32_t *, size_t)",
    "aclrtIpcMemImportByKey": "aclError (*)(void **, const char *, uint64_t)",
    "aclrtIpcMemClose": "aclError (*)(const char *)",
    "aclrtDeviceGetBareTgid": "aclError (*)(int32_t *)",
    "aclrtCmoAsync": "aclError (*)(void *, size_t, aclrtCmoType, aclrtStream)",
    "aclmdlRIExecute": "aclError (*)(aclmdlRI, int32_t)",
    "aclmdlRICaptureThreadExchangeMode": "aclError (*)(aclmdlRICaptureMode *)",
    "aclmdlRIGetName": "aclError (*)(aclmdlRI, uint32_t, char *)",
    "aclmdlRIDebugJsonPrint": "aclError (*)(aclmdlRI, const char *, uint32_t)",
    "aclsysGetVersionStr": "aclError (*)(char *, char *)",
    "aclsysGetVersionNum": "aclError (*)(char *, int32_t *)",
    "aclAppLog": "void (*)(aclLogLevel, const char *, const char *, uint32_t, const char *, ...)",
    "aclCreateTensorDesc": "aclTensorDesc *(*)(aclDataType, int, const int64_t *, aclFormat)",
    "aclCreateDataBuffer": "aclDataBuffer *(*)(void *, size_t)",
    "aclmdlLoadFromFile": "aclError (*)(const char *, uint32_t *)",
    "aclprofInit": "aclError (*)(const char *, size_t)",
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
