# SPDX-License-Identifier: Apache-2.0
"""Streams that are dead, foreign or null, and waits that would never end."""

import ctypes as ct

from tests.support.acl_runtime import (
    INVALID_HANDLE,
    NOT_A_HANDLE,
    PARAM_INVALID,
    Runtime,
    made,
    out,
)


def test_misuse(rt: Runtime) -> None:
    """Dead, foreign and wrong-kind streams get 107017, null where null is no stream 107000."""
    dead, event = made(rt.api.aclrtCreateStream), rt.new_event()
    rt.check(rt.api.aclrtDestroyStream(dead))
    block = rt.malloc(64)
    for handle, what in (
        (dead, "a destroyed aclrtStream"),
        (event, "an aclrtEvent"),
        (NOT_A_HANDLE, "not a handle of softnpu"),
    ):
        calls = [
            rt.api.aclrtDestroyStream(handle),
            rt.api.aclrtDestroyStreamForce(handle),
            rt.api.aclrtSynchronizeStream(handle),
            out(ct.c_int, rt.api.aclrtStreamQuery, handle)[0],
            out(ct.c_int32, rt.api.aclrtStreamGetId, handle)[0],
            rt.api.aclrtRecordEvent(event, handle),
            rt.api.aclrtStreamWaitEvent(handle, event),
            rt.api.aclrtMemcpyAsync(block, 64, block, 64, 3, handle),
            rt.api.aclrtLaunchHostFunc(handle, rt.host(lambda: None), None),
            rt.api.aclrtSubscribeReport(1, handle),
        ]
        assert set(calls) == {INVALID_HANDLE}
        assert what in rt.message()
    default = made(rt.api.aclrtCtxGetCurrentDefaultStream)
    null_calls = [
        rt.api.aclrtDestroyStream(None),
        rt.api.aclrtDestroyStream(default),
        rt.api.aclrtDestroyStreamForce(default),
        rt.api.aclrtCreateStream(None),
        rt.api.aclrtStreamQuery(rt.stream, None),
        rt.api.aclrtStreamGetId(rt.stream, None),
        rt.api.aclrtLaunchHostFunc(rt.stream, None, None),
    ]
    assert set(null_calls) == {PARAM_INVALID}


def test_handles_are_not_reused(rt: Runtime) -> None:
    """A destroyed stream's handle does not become a new stream's."""
    dead = made(rt.api.aclrtCreateStream)
    rt.check(rt.api.aclrtDestroyStream(dead))
    later = [rt.new_stream() for _ in range(10)]
    assert dead not in later
    assert rt.api.aclrtSynchronizeStream(dead) == INVALID_HANDLE


def test_waiting_for_oneself(rt: Runtime) -> None:
    """Waiting for a stream from its own work, or what it waits for, is an error, no hang."""
    event, other = rt.new_event(), rt.new_stream()
    codes: list[int] = []

    def wait() -> None:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        codes.extend(
            [
                rt.api.aclrtSynchronizeStream(rt.stream),
                rt.api.aclrtSynchronizeStream(other),
                rt.api.aclrtSynchronizeDevice(),
                rt.api.aclrtSynchronizeEvent(event),
                rt.api.aclrtDestroyStream(rt.stream),
            ]
        )
        messages.append(rt.message())

    messages: list[str] = []
    rt.launch_host(wait)
    assert rt.synchronize() == 0
    assert codes == [PARAM_INVALID] * 5
    assert "would never end" in messages[0]
    assert rt.api.aclrtSynchronizeStream(other) == 0
