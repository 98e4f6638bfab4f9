# SPDX-License-Identifier: Apache-2.0
"""Devices, contexts and system parameters: each test has its own process."""

import ctypes as ct
import threading

from tests.support.acl_runtime import (
    CONTEXT_NULL,
    INVALID_DEVICEID,
    INVALID_HANDLE,
    NOT_A_HANDLE,
    PARAM_INVALID,
    STREAM_CONTEXT,
    SYSPARAMOPT_NOT_SET,
    CallbackType,
    in_fresh_process,
    in_thread,
    made,
    message,
    out,
)
from tests.support.capi_symbols import Functions


def device(api: Functions) -> tuple[int, int]:
    """Status and value of aclrtGetDevice."""
    return out(ct.c_int32, api.aclrtGetDevice)


@in_fresh_process
def test_thread_starts_without_device(api: Functions) -> None:
    """A thread starts without a device: calls that need one give 107002."""
    assert api.aclInit(None) == 0
    assert api.aclrtSetDevice(0) == 0
    block = made(api.aclrtMalloc, 64, 0)
    context = made(api.aclrtGetCurrentContext)

    def calls() -> list[int]:
        return [
            device(api)[0],
            out(ct.c_void_p, api.aclrtGetCurrentContext)[0],
            out(ct.c_void_p, api.aclrtCtxGetCurrentDefaultStream)[0],
            out(ct.c_void_p, api.aclrtCreateStream)[0],
            out(ct.c_void_p, api.aclrtCreateEvent)[0],
            out(ct.c_void_p, api.aclrtMalloc, 64, 0, first=True)[0],
            api.aclrtMemcpy(block, 64, block, 64, 3),
            api.aclrtMemset(block, 64, 0, 64),
            api.aclrtSynchronizeStream(None),
            api.aclrtSynchronizeDevice(),
            api.aclrtCtxSetSysParamOpt(0, 1),
            api.aclrtMemcpyAsync(block, 64, block, 64, 3, None),
        ]

    assert set(in_thread(calls)) == {CONTEXT_NULL}
    assert in_thread(lambda: (api.aclrtSetCurrentContext(context), device(api))) == (0, (0, 0))


@in_fresh_process(SOFTNPU_DEVICES="2")
def test_device_out_of_range(api: Functions) -> None:
    """A device that does not exist gives 107001."""
    for call in (api.aclrtSetDevice, api.aclrtResetDevice, api.aclrtResetDeviceForce):
        for number in (-1, 2, 2**31 - 1, -(2**31)):
            assert call(number) == INVALID_DEVICEID
            assert f"deviceId is {number};" in message(api)
    assert out(ct.c_void_p, api.aclrtCreateContext, 2, first=True)[0] == INVALID_DEVICEID


@in_fresh_process(SOFTNPU_DEVICES="2")
def test_counts_per_device(api: Functions) -> None:
    """Set and Reset are counted per device: the device lives until they are even."""
    assert [api.aclrtSetDevice(number) for number in (0, 0, 1, 0)] == [0] * 4
    assert device(api) == (0, 0)
    assert api.aclrtResetDevice(0) == 0
    assert api.aclrtResetDevice(0) == 0
    assert device(api) == (0, 0)
    assert api.aclrtResetDevice(0) == 0
    assert device(api)[0] == CONTEXT_NULL
    assert api.aclrtResetDevice(0) == CONTEXT_NULL
    assert api.aclrtSetDevice(1) == 0
    assert device(api) == (0, 1)


@in_fresh_process
def test_reset_to_zero(api: Functions) -> None:
    """At zero the default context and stream are gone; what the program made stays destroyable."""
    assert api.aclrtSetDevice(0) == 0
    context = made(api.aclrtGetCurrentContext)
    default = made(api.aclrtCtxGetCurrentDefaultStream)
    stream, event = made(api.aclrtCreateStream), made(api.aclrtCreateEvent)
    block = made(api.aclrtMalloc, 100, 0)
    assert api.aclrtResetDevice(0) == 0
    assert device(api)[0] == CONTEXT_NULL
    assert api.aclrtSetCurrentContext(context) == INVALID_HANDLE
    assert api.aclrtSynchronizeStream(None) == CONTEXT_NULL
    assert api.aclrtDestroyStream(default) == INVALID_HANDLE
    assert api.aclrtDestroyEvent(event) == 0
    assert api.aclrtDestroyStream(stream) == 0
    assert api.aclrtFree(block) == 0
    assert api.aclrtSetDevice(0) == 0
    assert api.aclrtSynchronizeStream(None) == 0


@in_fresh_process
def test_reset_drains(api: Functions) -> None:
    """When the count reaches 0, work that is still queued is done before the streams go."""
    assert api.aclrtSetDevice(0) == 0
    stream = made(api.aclrtCreateStream)
    seen: list[str] = []
    go = threading.Event()

    def process() -> None:
        go.wait()
        seen.append(f"report {api.aclrtProcessReport(60000)}")

    keeper = threading.Thread(target=process)
    keeper.start()
    callback = CallbackType(lambda _: seen.append("callback"))
    task = CallbackType(lambda _: seen.append("task"))
    assert api.aclrtSubscribeReport(keeper.ident, stream) == 0
    assert api.aclrtLaunchCallback(ct.cast(callback, ct.c_void_p), None, 1, stream) == 0
    assert api.aclrtLaunchHostFunc(stream, ct.cast(task, ct.c_void_p), None) == 0
    threading.Timer(0.05, go.set).start()
    assert api.aclrtResetDevice(0) == 0
    assert [each for each in seen if not each.startswith("report")] == ["callback", "task"]
    keeper.join()
    assert "report 0" in seen


@in_fresh_process
def test_reset_force(api: Functions) -> None:
    """`aclrtResetDeviceForce` undoes all Sets at once."""
    assert [api.aclrtSetDevice(0) for _ in range(4)] == [0] * 4
    assert api.aclrtResetDeviceForce(0) == 0
    assert device(api)[0] == CONTEXT_NULL
    assert api.aclrtResetDeviceForce(0) == CONTEXT_NULL


@in_fresh_process
def test_stream_of_released_device(api: Functions) -> None:
    """A stream whose device was reset belongs to no current context any more: 107003."""
    assert api.aclrtSetDevice(0) == 0
    stream = made(api.aclrtCreateStream)
    assert api.aclrtResetDevice(0) == 0
    assert api.aclrtSynchronizeStream(stream) == CONTEXT_NULL
    assert api.aclrtSetDevice(0) == 0
    assert api.aclrtSynchronizeStream(stream) == STREAM_CONTEXT
    assert api.aclrtDestroyStream(stream) == 0


@in_fresh_process(SOFTNPU_DEVICES="2")
def test_contexts(api: Functions) -> None:
    """A created context becomes current; each has its own device and default stream."""
    assert api.aclrtSetDevice(0) == 0
    default = made(api.aclrtGetCurrentContext)
    stream = made(api.aclrtCtxGetCurrentDefaultStream)
    other = made(api.aclrtCreateContext, 1)
    assert made(api.aclrtGetCurrentContext) == other
    assert device(api) == (0, 1)
    assert made(api.aclrtCtxGetCurrentDefaultStream) != stream
    assert api.aclrtSetCurrentContext(default) == 0
    assert device(api) == (0, 0)
    assert made(api.aclrtCtxGetCurrentDefaultStream) == stream
    assert api.aclrtDestroyContext(other) == 0
    assert api.aclrtDestroyContext(other) == INVALID_HANDLE
    assert "destroyed aclrtContext" in message(api)
    assert api.aclrtSetCurrentContext(other) == INVALID_HANDLE


@in_fresh_process
def test_context_misuse(api: Functions) -> None:
    """Null, foreign and default contexts cannot be destroyed; a destroyed one is not current."""
    assert api.aclrtSetDevice(0) == 0
    default = made(api.aclrtGetCurrentContext)
    stream = made(api.aclrtCreateStream)
    for call in (api.aclrtDestroyContext, api.aclrtSetCurrentContext):
        assert call(None) == PARAM_INVALID
        assert call(NOT_A_HANDLE) == INVALID_HANDLE
        assert call(stream) == INVALID_HANDLE
        assert "an aclrtStream" in message(api)
    assert api.aclrtDestroyContext(default) == PARAM_INVALID
    other = made(api.aclrtCreateContext, 0)
    mine = made(api.aclrtCreateStream)
    assert api.aclrtDestroyContext(other) == 0
    assert device(api)[0] == CONTEXT_NULL
    assert api.aclrtDestroyStream(mine) == 0
    assert api.aclrtSetCurrentContext(default) == 0
    assert api.aclrtSynchronizeStream(stream) == 0
    assert api.aclrtCreateContext(None, 0) == PARAM_INVALID
    assert api.aclrtGetCurrentContext(None) == PARAM_INVALID
    assert api.aclrtGetDevice(None) == PARAM_INVALID
    assert api.aclrtGetDeviceCount(None) == PARAM_INVALID


@in_fresh_process
def test_stream_of_another_context(api: Functions) -> None:
    """A stream of another context gives 107003, in every call that works with a stream."""
    assert api.aclrtSetDevice(0) == 0
    stream, event = made(api.aclrtCreateStream), made(api.aclrtCreateEvent)
    block = made(api.aclrtMalloc, 64, 0)
    made(api.aclrtCreateContext, 0)
    calls = [
        api.aclrtSynchronizeStream(stream),
        api.aclrtSynchronizeStreamWithTimeout(stream, 10),
        out(ct.c_int32, api.aclrtStreamQuery, stream)[0],
        api.aclrtMemcpyAsync(block, 64, block, 64, 3, stream),
        api.aclrtMemsetAsync(block, 64, 0, 64, stream),
        api.aclrtRecordEvent(event, stream),
        api.aclrtStreamWaitEvent(stream, event),
        api.aclrtSubscribeReport(1, stream),
    ]
    assert set(calls) == {STREAM_CONTEXT}
    assert "another context" in message(api)


@in_fresh_process
def test_system_parameters(api: Functions) -> None:
    """Of a context an option never set gives 107021; of the process it reads as 0."""
    assert api.aclrtSetDevice(0) == 0
    for option in range(3):
        assert out(ct.c_int64, api.aclrtCtxGetSysParamOpt, option)[0] == SYSPARAMOPT_NOT_SET
        assert out(ct.c_int64, api.aclrtGetSysParamOpt, option) == (0, 0)
        assert api.aclrtCtxSetSysParamOpt(option, option + 1) == 0
        assert out(ct.c_int64, api.aclrtCtxGetSysParamOpt, option) == (0, option + 1)
        assert out(ct.c_int64, api.aclrtGetSysParamOpt, option) == (0, 0)
        assert api.aclrtSetSysParamOpt(option, -(2**40)) == 0
        assert out(ct.c_int64, api.aclrtGetSysParamOpt, option) == (0, -(2**40))
    made(api.aclrtCreateContext, 0)
    assert out(ct.c_int64, api.aclrtCtxGetSysParamOpt, 0)[0] == SYSPARAMOPT_NOT_SET


@in_fresh_process
def test_system_parameter_misuse(api: Functions) -> None:
    """An option that does not exist and a null value give 107000."""
    assert api.aclrtSetDevice(0) == 0
    for option in (-1, 3):
        assert api.aclrtSetSysParamOpt(option, 1) == PARAM_INVALID
        assert api.aclrtCtxSetSysParamOpt(option, 1) == PARAM_INVALID
        assert out(ct.c_int64, api.aclrtGetSysParamOpt, option)[0] == PARAM_INVALID
        assert out(ct.c_int64, api.aclrtCtxGetSysParamOpt, option)[0] == PARAM_INVALID
    assert api.aclrtGetSysParamOpt(0, None) == PARAM_INVALID


@in_fresh_process
def test_reset_from_own_work(api: Functions) -> None:
    """A device cannot be reset, nor a context destroyed, from work of its own streams."""
    assert api.aclrtSetDevice(0) == 0
    context = made(api.aclrtCreateContext, 0)
    seen: list[int] = []
    in_context = CallbackType(lambda _: seen.append(api.aclrtDestroyContext(context)))
    assert api.aclrtLaunchHostFunc(None, ct.cast(in_context, ct.c_void_p), None) == 0
    assert api.aclrtSetDevice(0) == 0
    in_device = CallbackType(lambda _: seen.append(api.aclrtResetDeviceForce(0)))
    assert api.aclrtLaunchHostFunc(None, ct.cast(in_device, ct.c_void_p), None) == 0
    assert api.aclrtSynchronizeDevice() == 0
    assert seen == [PARAM_INVALID, PARAM_INVALID]
