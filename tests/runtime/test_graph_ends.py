# SPDX-License-Identifier: Apache-2.0
"""Captures of several streams, and graphs and captures that end early by whatever is destroyed."""

from __future__ import annotations

import ctypes as ct
from typing import Any

from tests.support.acl_runtime import (
    INVALID_HANDLE,
    PARAM_INVALID,
    STREAM_CONTEXT,
    CallbackType,
    in_fresh_process,
    made,
    out,
)
from tests.support.graphs import (
    GLOBAL,
    INVALIDATED,
    NONE,
    SIZE,
    Graphs,
)

NOTHING = CallbackType(lambda _: None)


def test_a_graph_may_be_destroyed_while_it_runs(rt: Graphs) -> None:
    """What was launched still runs."""
    block = rt.malloc(SIZE)
    with rt.captured() as graph:
        rt.check(rt.fill(block, 3))
    with rt.held() as release:
        rt.check(rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream))
        rt.check(rt.api.aclmdlRIDestroy(graph[0]))
        release()
    assert rt.synchronize() == 0
    assert rt.byte(block) == 3


def test_a_captured_stream_destroyed_by_force(rt: Graphs) -> None:
    """It takes its capture along; the streams that had joined run what they get."""
    stream, other, event = made(rt.api.aclrtCreateStream), rt.new_stream(), rt.new_event()
    block = rt.malloc(SIZE)
    rt.check(rt.api.aclmdlRICaptureBegin(stream, GLOBAL))
    rt.check(rt.fill(block, 1, stream))
    rt.check(rt.api.aclrtRecordEvent(event, stream))
    rt.check(rt.api.aclrtStreamWaitEvent(other, event))
    unfinished = rt.info(other)[1]
    rt.check(rt.api.aclrtDestroyStreamForce(stream))
    assert "2 pieces of queued work were dropped before running" in rt.message()
    assert rt.api.aclmdlRIDestroy(unfinished) == INVALID_HANDLE
    assert rt.info(other) == (NONE, None)
    rt.check(rt.fill(block, 2, other))
    rt.check(rt.api.aclrtSynchronizeStream(other))
    assert rt.byte(block) == 2


def test_a_stream_that_joined_is_destroyed_by_force(rt: Graphs) -> None:
    """The capture goes on, but is spoilt, and its end says why."""
    other, event = made(rt.api.aclrtCreateStream), rt.new_event()
    rt.check(rt.api.aclmdlRICaptureBegin(rt.stream, GLOBAL))
    rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
    rt.check(rt.api.aclrtStreamWaitEvent(other, event))
    destroyed = rt.id(other)
    rt.check(rt.api.aclrtDestroyStreamForce(other))
    assert rt.info(rt.stream)[0] == INVALIDATED
    assert rt.failed_end() == PARAM_INVALID
    message = rt.message()
    assert f"stream {destroyed}, which had joined the capture, was destroyed" in message
    assert rt.info(rt.stream) == (NONE, None)


@in_fresh_process
def test_ends_of_the_device_and_of_its_use(api: Any) -> None:
    """aclrtResetDevice, aclrtDestroyContext and aclFinalize drop captures; graphs can still be
    destroyed, and not be executed.
    """
    assert api.aclInit(None) == 0
    for end in ("aclrtResetDevice", "aclrtResetDeviceForce", "aclrtDestroyContext", "aclFinalize"):
        assert api.aclInit(None) in (0, 100002)
        assert api.aclrtSetDevice(0) == 0
        context = made(api.aclrtCreateContext, 0) if end == "aclrtDestroyContext" else None
        stream = made(api.aclrtCreateStream)
        assert api.aclmdlRICaptureBegin(stream, GLOBAL) == 0
        status, graph = out(ct.c_void_p, api.aclmdlRICaptureEnd, stream)
        assert status == 0
        assert api.aclmdlRICaptureBegin(stream, GLOBAL) == 0
        assert api.aclrtLaunchHostFunc(stream, ct.cast(NOTHING, ct.c_void_p), None) == 0
        arguments = {"aclFinalize": (), "aclrtDestroyContext": (context,)}.get(end, (0,))
        assert getattr(api, end)(*arguments) == 0
        if end != "aclFinalize":
            assert "1 piece of queued work was dropped" in api.aclGetRecentErrMsg().decode()
        assert api.aclrtSetDevice(0) == 0
        assert api.aclmdlRIExecuteAsync(graph, None) == STREAM_CONTEXT
        assert api.aclmdlRIDestroy(graph) == 0
        block = made(api.aclrtMalloc, SIZE, 0)
        assert api.aclrtMemset(block, SIZE, 0, SIZE) == 0
        assert api.aclrtFree(block) == 0


def fork(rt: Graphs, other: int, blocks: list[int], fork_event: int) -> None:
    """Let another stream join the capture, and copy there."""
    rt.check(rt.fill(blocks[0], 5))
    rt.check(rt.api.aclrtRecordEvent(fork_event, rt.stream))
    rt.check(rt.api.aclrtStreamWaitEvent(other, fork_event))
    rt.check(rt.copy(blocks[1], blocks[0], other))


def test_a_stream_joins_the_capture(rt: Graphs) -> None:
    """A stream that waits for a captured event is captured, too, until the capture ends."""
    other, events = rt.new_stream(), [rt.new_event() for _ in range(2)]
    blocks = [rt.malloc(SIZE) for _ in range(3)]
    for block in blocks:
        rt.check(rt.api.aclrtMemset(block, SIZE, 0, SIZE))
    with rt.captured() as graph:
        fork(rt, other, blocks, events[0])
        assert rt.info(other) == rt.info(rt.stream)
        rt.check(rt.api.aclrtRecordEvent(events[1], other))
        rt.check(rt.api.aclrtStreamWaitEvent(rt.stream, events[1]))
        rt.check(rt.copy(blocks[2], blocks[1]))
    assert rt.info(other) == (NONE, None)
    assert [rt.byte(block) for block in blocks] == [0, 0, 0]
    rt.execute(graph[0])
    assert [rt.byte(block) for block in blocks] == [5, 5, 5]


def test_a_stream_that_joined_must_be_waited_for(rt: Graphs) -> None:
    """Else the capture fails, names the stream, and ends."""
    other, event = rt.new_stream(), rt.new_event()
    rt.check(rt.api.aclmdlRICaptureBegin(rt.stream, GLOBAL))
    fork(rt, other, [rt.malloc(SIZE), rt.malloc(SIZE)], event)
    assert rt.failed_end() == PARAM_INVALID
    assert f"stream {rt.id(other)} joined the capture of stream {rt.id(rt.stream)}" in rt.message()
    assert rt.info(rt.stream) == rt.info(other) == (NONE, None)
    assert rt.synchronize() == 0


def test_only_the_first_stream_ends_the_capture(rt: Graphs) -> None:
    """One that joined cannot, nor can it begin a capture of its own."""
    other, event = rt.new_stream(), rt.new_event()
    with rt.captured():
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        assert rt.failed_end(other) == PARAM_INVALID
        assert f"joined the capture of stream {rt.id(rt.stream)}" in rt.message()
        assert rt.api.aclmdlRICaptureBegin(other, GLOBAL) == PARAM_INVALID
        assert "stream is being captured already" in rt.message()


def test_captures_are_kept_apart(rt: Graphs) -> None:
    """A stream in one capture cannot wait for an event of another."""
    other, event = rt.new_stream(), rt.new_event()
    with rt.captured():
        rt.check(rt.api.aclmdlRICaptureBegin(other, GLOBAL))
        rt.check(rt.api.aclrtRecordEvent(event, other))
        assert rt.api.aclrtStreamWaitEvent(rt.stream, event) == PARAM_INVALID
        assert f"is in the capture of stream {rt.id(rt.stream)}" in rt.message()
        rt.end(other)
