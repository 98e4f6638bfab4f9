# SPDX-License-Identifier: Apache-2.0
"""Devices, contexts, streams, events, memory and callbacks: a table of names.

Each name calls the documented C function. Results come before the status.
"""

from softnpu import _core

create_context = _core.aclrtCreateContext
create_event = _core.aclrtCreateEvent
create_event_ex_with_flag = _core.aclrtCreateEventExWithFlag
create_event_with_flag = _core.aclrtCreateEventWithFlag
create_stream = _core.aclrtCreateStream
create_stream_with_config = _core.aclrtCreateStreamWithConfig
ctx_get_current_default_stream = _core.aclrtCtxGetCurrentDefaultStream
ctx_get_sys_param_opt = _core.aclrtCtxGetSysParamOpt
ctx_set_sys_param_opt = _core.aclrtCtxSetSysParamOpt
destroy_context = _core.aclrtDestroyContext
destroy_event = _core.aclrtDestroyEvent
destroy_stream = _core.aclrtDestroyStream
destroy_stream_force = _core.aclrtDestroyStreamForce
event_elapsed_time = _core.aclrtEventElapsedTime
event_get_timestamp = _core.aclrtEventGetTimestamp
free = _core.aclrtFree
free_host = _core.aclrtFreeHost
free_physical = _core.aclrtFreePhysical
free_with_dev_sync = _core.aclrtFreeWithDevSync
get_context = _core.aclrtGetCurrentContext
get_device = _core.aclrtGetDevice
get_device_capability = _core.aclrtGetDeviceCapability
get_device_count = _core.aclrtGetDeviceCount
get_device_info = _core.aclrtGetDeviceInfo
get_last_error = _core.aclrtGetLastError
get_mem_info = _core.aclrtGetMemInfo
get_run_mode = _core.aclrtGetRunMode
get_soc_name = _core.aclrtGetSocName
get_sys_param_opt = _core.aclrtGetSysParamOpt
get_version = _core.aclrtGetVersion
launch_callback = _core.aclrtLaunchCallback
launch_host_func = _core.aclrtLaunchHostFunc
malloc = _core.aclrtMalloc
malloc_align32 = _core.aclrtMallocAlign32
malloc_cached = _core.aclrtMallocCached
malloc_host = _core.aclrtMallocHost
malloc_physical = _core.aclrtMallocPhysical
map_mem = _core.aclrtMapMem
mem_get_allocation_granularity = _core.aclrtMemGetAllocationGranularity
memcpy = _core.aclrtMemcpy
memcpy_2d = _core.aclrtMemcpy2d
memcpy_2d_async = _core.aclrtMemcpy2dAsync
memcpy_async = _core.aclrtMemcpyAsync
memcpy_batch_async = _core.aclrtMemcpyBatchAsync
memset = _core.aclrtMemset
memset_async = _core.aclrtMemsetAsync
peek_at_last_error = _core.aclrtPeekAtLastError
process_report = _core.aclrtProcessReport
query_event = _core.aclrtQueryEvent
query_event_status = _core.aclrtQueryEventStatus
query_event_wait_status = _core.aclrtQueryEventWaitStatus
record_event = _core.aclrtRecordEvent
release_mem_address = _core.aclrtReleaseMemAddress
reserve_mem_address = _core.aclrtReserveMemAddress
reset_device = _core.aclrtResetDevice
reset_device_force = _core.aclrtResetDeviceForce
reset_event = _core.aclrtResetEvent
set_context = _core.aclrtSetCurrentContext
set_device = _core.aclrtSetDevice
set_sys_param_opt = _core.aclrtSetSysParamOpt
stream_get_flags = _core.aclrtStreamGetFlags
stream_get_id = _core.aclrtStreamGetId
stream_get_priority = _core.aclrtStreamGetPriority
stream_query = _core.aclrtStreamQuery
stream_wait_event = _core.aclrtStreamWaitEvent
subscribe_report = _core.aclrtSubscribeReport
synchronize_device = _core.aclrtSynchronizeDevice
synchronize_device_with_timeout = _core.aclrtSynchronizeDeviceWithTimeout
synchronize_event = _core.aclrtSynchronizeEvent
synchronize_event_with_timeout = _core.aclrtSynchronizeEventWithTimeout
synchronize_stream = _core.aclrtSynchronizeStream
synchronize_stream_with_timeout = _core.aclrtSynchronizeStreamWithTimeout
unmap_mem = _core.aclrtUnmapMem
unsubscribe_report = _core.aclrtUnSubscribeReport

__all__ = [
    "create_context",
    "create_event",
    "create_event_ex_with_flag",
    "create_event_with_flag",
    "create_stream",
    "create_stream_with_config",
    "ctx_get_current_default_stream",
    "ctx_get_sys_param_opt",
    "ctx_set_sys_param_opt",
    "destroy_context",
    "destroy_event",
    "destroy_stream",
    "destroy_stream_force",
    "event_elapsed_time",
    "event_get_timestamp",
    "free",
    "free_host",
    "free_physical",
    "free_with_dev_sync",
    "get_context",
    "get_device",
    "get_device_capability",
    "get_device_count",
    "get_device_info",
    "get_last_error",
    "get_mem_info",
    "get_run_mode",
    "get_soc_name",
    "get_sys_param_opt",
    "get_version",
    "launch_callback",
    "launch_host_func",
    "malloc",
    "malloc_align32",
    "malloc_cached",
    "malloc_host",
    "malloc_physical",
    "map_mem",
    "mem_get_allocation_granularity",
    "memcpy",
    "memcpy_2d",
    "memcpy_2d_async",
    "memcpy_async",
    "memcpy_batch_async",
    "memset",
    "memset_async",
    "peek_at_last_error",
    "process_report",
    "query_event",
    "query_event_status",
    "query_event_wait_status",
    "record_event",
    "release_mem_address",
    "reserve_mem_address",
    "reset_device",
    "reset_device_force",
    "reset_event",
    "set_context",
    "set_device",
    "set_sys_param_opt",
    "stream_get_flags",
    "stream_get_id",
    "stream_get_priority",
    "stream_query",
    "stream_wait_event",
    "subscribe_report",
    "synchronize_device",
    "synchronize_device_with_timeout",
    "synchronize_event",
    "synchronize_event_with_timeout",
    "synchronize_stream",
    "synchronize_stream_with_timeout",
    "unmap_mem",
    "unsubscribe_report",
]
