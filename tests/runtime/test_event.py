# SPDX-License-Identifier: Apache-2.0
"""Events: order between streams, queries, times, misuse."""

import ctypes as ct
import threading
import time

import pytest

from tests.support.acl_runtime import (
    EVENT_SYNC_TIMEOUT,
    INVALID_HANDLE,
    NOT_A_HANDLE,
    PARAM_INVALID,
    TIMESTAMP_INVALID,
    TIMESTAMP_REVERSAL,
    Runtime,
    made,
    out,
)


def query(rt: Runtime, event: int) -> tuple[int, int, int]:
    """The event's status, recorded status and wait status."""
    names = ("aclrtQueryEvent", "aclrtQueryEventStatus", "aclrtQueryEventWaitStatus")
    answers = [out(ct.c_int, getattr(rt.api, name), event) for name in names]
    assert [code for code, _ in answers] == [0, 0, 0]
    return tuple(value for _, value in answers)


def elapsed(rt: Runtime, start: int | None, end: int | None) -> tuple[int, float]:
    """Status and milliseconds of aclrtEventElapsedTime."""
    return out(ct.c_float, rt.api.aclrtEventElapsedTime, start, end, first=True)


def test_statuses(rt: Runtime) -> None:
    """Complete is 0 for aclrtQueryEvent, 1 for aclrtQueryEventStatus, 0 for the wait status."""
    event, other = rt.new_event(), rt.new_stream()
    with rt.held() as release:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        assert query(rt, event) == (1, 0, 0)
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        assert query(rt, event) == (1, 0, 1)
        release()
    assert [rt.api.aclrtSynchronizeStream(stream) for stream in (rt.stream, other)] == [0, 0]
    assert query(rt, event) == (0, 1, 0)


def test_never_recorded(rt: Runtime) -> None:
    """An event never recorded, or reset, holds nobody back, and is not complete."""
    event = rt.new_event()
    for _ in range(2):
        assert query(rt, event) == (1, 0, 0)
        rt.check(rt.api.aclrtSynchronizeEvent(event))
        rt.check(rt.api.aclrtStreamWaitEvent(rt.stream, event))
        assert rt.synchronize() == 0
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        assert rt.synchronize() == 0
        assert query(rt, event) == (0, 1, 0)
        rt.check(rt.api.aclrtResetEvent(event, rt.stream))
        assert rt.synchronize() == 0


def test_reset_in_the_streams_order(rt: Runtime) -> None:
    """An event stays recorded until the stream gets to the reset, which leaves a later recording
    alone.
    """
    event, other = rt.new_event(), rt.new_stream()
    with rt.held() as release:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        rt.check(rt.api.aclrtResetEvent(event, other))
        assert rt.api.aclrtSynchronizeEventWithTimeout(event, 10) == EVENT_SYNC_TIMEOUT
        release()
    rt.check(rt.api.aclrtSynchronizeStream(other))
    assert query(rt, event) == (1, 0, 0)
    assert rt.api.aclrtEventGetTimestamp(event, ct.byref(ct.c_uint64())) == TIMESTAMP_INVALID
    with rt.held() as release:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtResetEvent(event, rt.stream))
        rt.check(rt.api.aclrtRecordEvent(event, other))
        release()
    assert rt.synchronize() == 0
    rt.check(rt.api.aclrtSynchronizeStream(other))
    assert query(rt, event) == (0, 1, 0)


def test_holds_other_streams_back(rt: Runtime) -> None:
    """Work after aclrtStreamWaitEvent runs after the work before the recording, and no sooner."""
    event, other = rt.new_event(), rt.new_stream()
    seen: list[str] = []
    with rt.held() as release:
        rt.launch_host(lambda: seen.append("before"))
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.launch_host(lambda: seen.append("free"), other)
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        rt.launch_host(lambda: seen.append("after"), other)
        rt.wait_for(lambda: seen == ["free"])
        timer = threading.Timer(0.05, release)
        timer.start()
        rt.check(rt.api.aclrtSynchronizeStream(other))
        assert seen == ["free", "before", "after"]
        timer.join()


def test_waits_for_latest_recording(rt: Runtime) -> None:
    """A wait is for the recording that was the latest when it was launched."""
    event, second, third = rt.new_event(), rt.new_stream(), rt.new_stream()
    with rt.held() as release_first:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtStreamWaitEvent(third, event))
        with rt.held(second) as release_second:
            rt.check(rt.api.aclrtRecordEvent(event, second))
            assert rt.api.aclrtSynchronizeStreamWithTimeout(third, 1) != 0
            release_first()
            rt.check(rt.api.aclrtSynchronizeStream(third))
            assert query(rt, event) == (1, 0, 0)
            release_second()
            rt.check(rt.api.aclrtSynchronizeStream(second))
    assert query(rt, event) == (0, 1, 0)


def test_synchronize(rt: Runtime) -> None:
    """`aclrtSynchronizeEvent` waits for the recording, with a timeout 507047 if it takes longer."""
    event = rt.new_event()
    with rt.held() as release:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        start = time.monotonic()
        assert rt.api.aclrtSynchronizeEventWithTimeout(event, 30) == EVENT_SYNC_TIMEOUT
        assert time.monotonic() - start >= 0.03
        assert "work up to the event is not done after the timeout of 30 ms" in rt.message()
        timer = threading.Timer(0.05, release)
        timer.start()
        rt.check(rt.api.aclrtSynchronizeEvent(event))
        assert query(rt, event) == (0, 1, 0)
        timer.join()
    rt.check(rt.api.aclrtSynchronizeEventWithTimeout(event, -1))
    for timeout in (0, -2):
        assert rt.api.aclrtSynchronizeEventWithTimeout(event, timeout) == PARAM_INVALID


def test_synchronize_does_not_wait_for_more(rt: Runtime) -> None:
    """`aclrtSynchronizeEvent` does not wait for work that comes after the recording."""
    event = rt.new_event()
    rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
    with rt.held():
        rt.check(rt.api.aclrtSynchronizeEvent(event))


@pytest.mark.parametrize("flag", [0, 1, 2, 8, 1 | 2 | 8])
@pytest.mark.parametrize("create", ["aclrtCreateEventWithFlag", "aclrtCreateEventExWithFlag"])
def test_elapsed_time(rt: Runtime, create: str, flag: int) -> None:
    """Events measure the time between them, in ms, also those made with flag 1 (ACL_EVENT_SYNC)."""
    start, end = (made(getattr(rt.api, create), flag) for _ in range(2))
    before = time.monotonic()
    rt.check(rt.api.aclrtRecordEvent(start, rt.stream))
    rt.launch_host(lambda: time.sleep(0.02))
    rt.check(rt.api.aclrtRecordEvent(end, rt.stream))
    rt.check(rt.api.aclrtSynchronizeEvent(end))
    took = (time.monotonic() - before) * 1000
    code, ms = elapsed(rt, start, end)
    assert code == 0
    assert 20 <= ms <= took
    (first_code, first), (second_code, second) = (
        out(ct.c_uint64, rt.api.aclrtEventGetTimestamp, event) for event in (start, end)
    )
    assert (first_code, second_code) == (0, 0)
    assert abs((second - first) / 1000 - ms) <= 0.002
    rt.check(rt.api.aclrtDestroyEvent(start))
    rt.check(rt.api.aclrtDestroyEvent(end))


def test_elapsed_time_misuse(rt: Runtime) -> None:
    """No time without both recordings (107006), nor backwards (107007)."""
    start, end = rt.new_event(), rt.new_event()
    assert elapsed(rt, start, end)[0] == TIMESTAMP_INVALID
    assert "startEvent was never recorded" in rt.message()
    rt.check(rt.api.aclrtRecordEvent(start, rt.stream))
    assert rt.synchronize() == 0
    assert elapsed(rt, start, end)[0] == TIMESTAMP_INVALID
    assert out(ct.c_uint64, rt.api.aclrtEventGetTimestamp, end)[0] == TIMESTAMP_INVALID
    with rt.held() as release:
        rt.check(rt.api.aclrtRecordEvent(end, rt.stream))
        assert elapsed(rt, start, end)[0] == TIMESTAMP_INVALID
        assert "endEvent was recorded, but its stream has not reached it" in rt.message()
        release()
        rt.check(rt.api.aclrtSynchronizeEvent(end))
    assert elapsed(rt, start, end)[0] == 0
    assert elapsed(rt, end, start)[0] == TIMESTAMP_REVERSAL
    assert elapsed(rt, start, start) == (0, 0.0)
    assert rt.api.aclrtEventElapsedTime(None, start, end) == PARAM_INVALID
    assert rt.api.aclrtEventGetTimestamp(start, None) == PARAM_INVALID


def test_destroyed_while_awaited(rt: Runtime) -> None:
    """An event may be destroyed while streams still wait for it: they wait on."""
    event, other = made(rt.api.aclrtCreateEvent), rt.new_stream()
    seen: list[int] = []
    with rt.held() as release:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        rt.check(rt.api.aclrtDestroyEvent(event))
        rt.launch_host(lambda: seen.append(1), other)
        assert seen == []
        release()
        rt.check(rt.api.aclrtSynchronizeStream(other))
    assert seen == [1]


def test_misuse(rt: Runtime) -> None:
    """Dead, foreign and wrong-kind events get 107017, null ones 107000."""
    dead = made(rt.api.aclrtCreateEvent)
    rt.check(rt.api.aclrtDestroyEvent(dead))
    for handle, code in (
        (dead, INVALID_HANDLE),
        (rt.stream, INVALID_HANDLE),
        (NOT_A_HANDLE, INVALID_HANDLE),
        (None, PARAM_INVALID),
    ):
        calls = [
            rt.api.aclrtDestroyEvent(handle),
            rt.api.aclrtRecordEvent(handle, rt.stream),
            rt.api.aclrtResetEvent(handle, rt.stream),
            rt.api.aclrtStreamWaitEvent(rt.stream, handle),
            rt.api.aclrtSynchronizeEvent(handle),
            out(ct.c_int, rt.api.aclrtQueryEvent, handle)[0],
            out(ct.c_int, rt.api.aclrtQueryEventStatus, handle)[0],
            out(ct.c_int, rt.api.aclrtQueryEventWaitStatus, handle)[0],
            elapsed(rt, handle, handle)[0],
            out(ct.c_uint64, rt.api.aclrtEventGetTimestamp, handle)[0],
        ]
        assert set(calls) == {code}
    event = rt.new_event()
    assert rt.api.aclrtCreateEvent(None) == PARAM_INVALID
    assert rt.api.aclrtQueryEvent(event, None) == PARAM_INVALID
    assert out(ct.c_void_p, rt.api.aclrtCreateEventWithFlag, 4, first=True)[0] == PARAM_INVALID
    assert "flag is 4;" in rt.message()
