# SPDX-License-Identifier: Apache-2.0
"""Streams: order, waiting, failures, questions, destruction."""

import ctypes as ct
import threading
import time

import pytest

from tests.support.acl_runtime import (
    INVALID_HANDLE,
    PARAM_INVALID,
    STREAM_SYNC_TIMEOUT,
    Runtime,
    made,
    out,
)

COMPLETE, NOT_READY = 0, 1


def status(rt: Runtime, stream: int | None) -> int:
    """What aclrtStreamQuery says."""
    code, value = out(ct.c_int, rt.api.aclrtStreamQuery, stream)
    rt.check(code)
    return int(value)


def launch_failure(rt: Runtime, stream: int | None = None) -> None:
    """Put work into a held stream that fails when it runs: its memory is freed by then."""
    stream = rt.stream if stream is None else stream
    block = made(rt.api.aclrtMalloc, 64, 0)
    rt.check(rt.api.aclrtMemsetAsync(block, 64, 0, 64, stream))
    rt.check(rt.api.aclrtFree(block))


def test_runs_in_order(rt: Runtime) -> None:
    """The work of a stream runs in the order of its launches."""
    seen: list[int] = []
    with rt.held() as release:
        for i in range(100):
            rt.launch_host(lambda i=i: seen.append(i))  # type: ignore[misc]
        assert seen == []
        release()
    assert rt.synchronize() == 0
    assert seen == list(range(100))


def test_null_is_default_stream(rt: Runtime) -> None:
    """Stream null means the current context's default stream, for launch, copy and synchronise."""
    default = made(rt.api.aclrtCtxGetCurrentDefaultStream)
    target, source = rt.malloc(64), rt.malloc(64)
    rt.check(rt.api.aclrtMemset(source, 64, 7, 64))
    seen: list[int] = []
    with rt.held(default) as release:
        rt.check(rt.api.aclrtLaunchHostFunc(None, rt.host(lambda: seen.append(1)), None))
        rt.check(rt.api.aclrtMemcpyAsync(target, 64, source, 64, 3, None))
        assert seen == []
        assert status(rt, None) == status(rt, default) == NOT_READY
        assert rt.api.aclrtSynchronizeStreamWithTimeout(None, 1) == STREAM_SYNC_TIMEOUT
        release()
        rt.check(rt.api.aclrtSynchronizeStream(None))
    assert seen == [1]
    assert set(rt.download(target, 64)) == {7}


def test_synchronise_with_timeout(rt: Runtime) -> None:
    """A wait that takes longer than its timeout gives 507046, and the work goes on afterwards."""
    with rt.held() as release:
        start = time.monotonic()
        assert rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, 30) == STREAM_SYNC_TIMEOUT
        assert time.monotonic() - start >= 0.03
        assert "the stream's work is not done after the timeout of 30 ms" in rt.message()
        assert rt.api.aclrtSynchronizeDeviceWithTimeout(30) == STREAM_SYNC_TIMEOUT
        release()
    assert rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, 30) == 0
    assert rt.api.aclrtSynchronizeDeviceWithTimeout(-1) == 0


@pytest.mark.parametrize("timeout", [0, -2, -(2**31)])
def test_timeout_values(rt: Runtime, timeout: int) -> None:
    """-1 waits for ever, above 0 is milliseconds, anything else is 107000."""
    assert rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, timeout) == PARAM_INVALID
    assert f"timeout is {timeout};" in rt.message()
    assert rt.api.aclrtSynchronizeDeviceWithTimeout(timeout) == PARAM_INVALID
    assert rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, -1) == 0


def test_failure_is_reported_once(rt: Runtime) -> None:
    """A failure of work is reported by the next synchronisation, once; the stream stays usable."""
    seen: list[int] = []
    with rt.held() as release:
        launch_failure(rt)
        rt.launch_host(lambda: seen.append(1))
        release()
    rt.message()
    assert rt.synchronize() == PARAM_INVALID
    assert rt.message().startswith("aclrtSynchronizeStream: aclrtMemsetAsync: devPtr is in memory")
    assert rt.synchronize() == 0
    assert seen == [1]
    rt.launch_host(lambda: seen.append(2))
    assert rt.synchronize() == 0
    assert seen == [1, 2]


def test_first_failure_counts(rt: Runtime) -> None:
    """Of several failures the first is reported."""
    block, event = rt.malloc(64), rt.new_event()
    with rt.held() as release:
        launch_failure(rt)
        freed = made(rt.api.aclrtMalloc, 64, 0)
        rt.check(rt.api.aclrtMemcpyAsync(block, 64, freed, 64, 3, rt.stream))
        rt.check(rt.api.aclrtFree(freed))
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        release()
    assert rt.synchronize() == PARAM_INVALID
    assert "aclrtMemsetAsync" in rt.message()
    assert rt.synchronize() == 0


def test_failure_reported_by_event_and_device(rt: Runtime) -> None:
    """Event and device synchronisation report failures too; a blocking copy waits for none."""
    event, target = rt.new_event(), rt.malloc(64)
    with rt.held() as release:
        launch_failure(rt)
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        release()
    rt.check(rt.api.aclrtMemcpy(target, 64, target, 64, 3))
    assert rt.api.aclrtSynchronizeEvent(event) == PARAM_INVALID
    assert rt.synchronize() == 0
    streams = [rt.new_stream() for _ in range(3)]
    for stream in streams:
        with rt.held(stream) as release:
            launch_failure(rt, stream)
            release()
    rt.message()
    assert rt.api.aclrtSynchronizeDevice() == PARAM_INVALID
    assert "and work of 2 other streams failed" in rt.message()
    assert rt.api.aclrtSynchronizeDevice() == 0
    assert [rt.api.aclrtSynchronizeStream(stream) for stream in streams] == [0, 0, 0]


def test_settings(rt: Runtime) -> None:
    """A stream keeps its priority and flags and has an id of its own."""
    stream = made(rt.api.aclrtCreateStreamWithConfig, 5, 3)
    rt.keep("aclrtDestroyStream", stream)
    assert out(ct.c_uint32, rt.api.aclrtStreamGetPriority, stream) == (0, 5)
    assert out(ct.c_uint32, rt.api.aclrtStreamGetFlags, stream) == (0, 3)
    assert out(ct.c_uint32, rt.api.aclrtStreamGetPriority, rt.stream) == (0, 0)
    assert out(ct.c_uint32, rt.api.aclrtStreamGetFlags, rt.stream) == (0, 0)
    ids = [out(ct.c_int32, rt.api.aclrtStreamGetId, s) for s in (stream, rt.stream, None)]
    assert {code for code, _ in ids} == {0}
    assert len({number for _, number in ids}) == 3
    assert out(ct.c_void_p, rt.api.aclrtCreateStreamWithConfig, 0, 4, first=True) == (
        PARAM_INVALID,
        None,
    )
    assert "flag is 4;" in rt.message()


def test_destroy_waits(rt: Runtime) -> None:
    """`aclrtDestroyStream` finishes the stream's work first."""
    seen: list[int] = []
    stream = made(rt.api.aclrtCreateStream)
    with rt.held(stream) as release:
        rt.launch_host(lambda: seen.append(1), stream)
        timer = threading.Timer(0.05, release)
        timer.start()
        assert rt.api.aclrtDestroyStream(stream) == 0
        assert seen == [1]
        timer.join()


def test_destroy_force_drops(rt: Runtime) -> None:
    """`aclrtDestroyStreamForce` drops work that has not started, and frees who waits for it."""
    seen: list[int] = []
    stream, event = made(rt.api.aclrtCreateStream), rt.new_event()
    with rt.held(stream, limit=1):
        rt.launch_host(lambda: seen.append(1), stream)
        rt.check(rt.api.aclrtRecordEvent(event, stream))
        rt.check(rt.api.aclrtStreamWaitEvent(rt.stream, event))
        rt.launch_host(lambda: seen.append(2))
        assert rt.api.aclrtDestroyStreamForce(stream) == 0
        assert rt.synchronize() == 0
        assert rt.api.aclrtSynchronizeEvent(event) == 0
    assert seen == [2]
    assert rt.api.aclrtDestroyStreamForce(stream) == INVALID_HANDLE


def test_work_launches_work(rt: Runtime) -> None:
    """Work may launch into its own stream, where it comes later, and wait for other streams."""
    other = rt.new_stream()
    seen: list[str] = []

    def outer() -> None:
        rt.launch_host(lambda: seen.append("own"))
        rt.launch_host(lambda: seen.append("other"), other)
        rt.check(rt.api.aclrtSynchronizeStream(other))
        seen.append("outer")

    rt.launch_host(outer)
    assert rt.synchronize() == 0
    assert rt.synchronize() == 0  # the first one need not wait for what was launched meanwhile
    assert seen == ["other", "outer", "own"]


def test_destroyed_by_own_work(rt: Runtime) -> None:
    """A stream's own work may destroy it by force: what follows is dropped."""
    stream = made(rt.api.aclrtCreateStream)
    seen: list[int] = []

    def work() -> None:
        rt.launch_host(lambda: seen.append(-1), stream)
        seen.append(rt.api.aclrtDestroyStreamForce(stream))

    rt.launch_host(work, stream)
    rt.wait_for(lambda: seen == [0])
    assert rt.api.aclrtSynchronizeStream(stream) == INVALID_HANDLE
