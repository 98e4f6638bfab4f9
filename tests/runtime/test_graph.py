# SPDX-License-Identifier: Apache-2.0
"""Graphs: what is captured is not run, and every execution runs it in order."""

from __future__ import annotations

import ctypes as ct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.acl_runtime import (
    INVALID_HANDLE,
    NOT_A_HANDLE,
    PARAM_INVALID,
    STREAM_CONTEXT,
    TIMESTAMP_INVALID,
    CallbackType,
    Runtime,
    in_fresh_process,
    in_thread,
    made,
    out,
)
from tests.support.native import compiled, run

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE, INVALIDATED = 0, 1, 2
SIZE = 64


class Graphs(Runtime):
    """A session that captures."""

    earlier = 0  # a graph

    def id(self, stream: int) -> int:
        """What a stream is called in messages."""
        status, number = out(ct.c_int32, self.api.aclrtStreamGetId, stream)
        self.check(status)
        return int(number)

    def failed_end(self, stream: int | None = None) -> int:
        """The code of a capture's end that fails, and gives no graph."""
        status, graph = out(
            ct.c_void_p, self.api.aclmdlRICaptureEnd, self.stream if stream is None else stream
        )
        assert graph is None
        return status

    def failed_info(self, stream: int) -> int:
        """The code of a question that fails."""
        status, graph = ct.c_int(7), ct.c_void_p(7)
        code = self.api.aclmdlRICaptureGetInfo(stream, ct.byref(status), ct.byref(graph))
        assert (status.value, graph.value) == (7, 7)
        return int(code)

    def end(self, stream: int | None = None) -> int:
        """End the capture that the stream began."""
        stream = self.stream if stream is None else stream
        status, graph = out(ct.c_void_p, self.api.aclmdlRICaptureEnd, stream)
        self.check(status)
        assert graph is not None
        self.keep("aclmdlRIDestroy", graph)
        return int(graph)

    @contextmanager
    def captured(self, mode: int = GLOBAL) -> Iterator[list[int]]:
        """Capture what the body launches into the session's stream; the graph, once it has left."""
        graph: list[int] = []
        self.check(self.api.aclmdlRICaptureBegin(self.stream, mode))
        yield graph
        graph.append(self.end())

    def execute(self, graph: int, stream: int | None = None) -> None:
        """Execute a graph and wait for it."""
        stream = self.stream if stream is None else stream
        self.check(self.api.aclmdlRIExecuteAsync(graph, stream))
        self.check(self.api.aclrtSynchronizeStream(stream))

    def fill(self, address: int, value: int, stream: int | None = None) -> int:
        """Fill SIZE bytes in a stream."""
        stream = self.stream if stream is None else stream
        return int(self.api.aclrtMemsetAsync(address, SIZE, value, SIZE, stream))

    def copy(self, to: int, source: int, stream: int | None = None) -> int:
        """Copy SIZE bytes in a stream."""
        stream = self.stream if stream is None else stream
        return int(self.api.aclrtMemcpyAsync(to, SIZE, source, SIZE, 3, stream))

    def byte(self, address: int) -> int:
        """The first byte there."""
        return int(self.download(address, 1)[0])

    def info(self, stream: int) -> tuple[int, int | None]:
        """A stream's capture status, and the graph that is being made."""
        status, graph = ct.c_int(7), ct.c_void_p(7)
        self.check(self.api.aclmdlRICaptureGetInfo(stream, ct.byref(status), ct.byref(graph)))
        return status.value, graph.value


NOTHING = CallbackType(lambda _: None)


@pytest.fixture
def rt() -> Iterator[Graphs]:
    """Device 0 set in this thread, and a stream."""
    with Graphs() as runtime:
        runtime.api.aclrtGetLastError(0)
        yield runtime


def test_work_is_recorded_and_not_run(rt: Graphs) -> None:
    """Operators, copies and fills run when the graph is executed, in order, each time."""
    values = np.linspace(-2, 2, 16, dtype=np.float32)
    expected = np.where(values > 0, values, np.expm1(values)).astype(np.float32)
    source, inside, result = (rt.array(values * factor) for factor in (1, 0, 0))
    final = rt.malloc(SIZE)
    one = rt.scalar("FLOAT", 1.0)
    with rt.captured() as graph:
        rt.check(rt.copy(inside.address, source.address))
        planned = rt.plan("aclnnElu", inside.handle, one, one, one, result.handle)
        rt.check(rt.launch("aclnnElu", planned))
        rt.check(rt.copy(final, result.address))
        rt.check(rt.fill(result.address, 7))
    assert not inside.read().any()
    assert not result.read().any()
    for scaled in (values, values, values * 2):
        rt.upload(scaled, source.address)
        rt.execute(graph[0])
        expected = np.where(scaled > 0, scaled, np.expm1(scaled))
        np.testing.assert_allclose(rt.download(final, SIZE).view(np.float32), expected, rtol=1e-6)
        assert (result.read().view(np.uint8) == 7).all()


def test_a_stream_runs_again_after_a_capture(rt: Graphs) -> None:
    """Work before the capture runs, and work after it; an empty graph does nothing."""
    before, after = rt.malloc(SIZE), rt.malloc(SIZE)
    rt.check(rt.fill(before, 1))
    with rt.captured() as graph:
        pass
    rt.check(rt.fill(after, 2))
    assert rt.synchronize() == 0
    assert (rt.byte(before), rt.byte(after)) == (1, 2)
    rt.execute(graph[0])


def test_another_stream_executes_it(rt: Graphs) -> None:
    """A graph may be executed in any stream of its context, and in two at once."""
    block, other = rt.malloc(SIZE), rt.new_stream()
    with rt.captured() as graph:
        rt.check(rt.fill(block, 5))
    rt.check(rt.api.aclmdlRIExecuteAsync(graph[0], other))
    rt.check(rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream))
    assert [rt.api.aclrtSynchronizeStream(each) for each in (other, rt.stream)] == [0, 0]
    assert rt.byte(block) == 5


def test_the_default_stream_is_captured_as_null(rt: Graphs) -> None:
    """A null stream is the current context's default stream here, too."""
    block = rt.malloc(SIZE)
    rt.check(rt.api.aclmdlRICaptureBegin(None, RELAXED))
    rt.check(rt.api.aclrtMemsetAsync(block, SIZE, 9, SIZE, None))
    status, graph = out(ct.c_void_p, rt.api.aclmdlRICaptureEnd, None)
    rt.check(status)
    rt.keep("aclmdlRIDestroy", graph)
    rt.check(rt.fill(block, 1))
    assert rt.synchronize() == 0
    rt.check(rt.api.aclmdlRIExecuteAsync(graph, None))
    rt.check(rt.api.aclrtSynchronizeStream(None))
    assert rt.byte(block) == 9


def test_addresses_are_those_of_the_capture(rt: Graphs) -> None:
    """A repeatable executor's later addresses do not change the graph, nor do destroyed things."""
    values = np.full(16, 3, np.float32)
    source, first, second = rt.array(values), rt.array(0 * values), rt.array(0 * values)
    planned = rt.plan("aclnnSelu", source.handle, first.handle)
    rt.check(rt.api.aclSetAclOpExecutorRepeatable(planned.executor))
    with rt.captured() as graph:
        rt.check(rt.launch("aclnnSelu", planned))
    rt.check(rt.api.aclSetOutputTensorAddr(planned.executor, 0, first.handle, second.address))
    rt.check(rt.api.aclDestroyAclOpExecutor(planned.executor))
    rt.check(rt.api.aclDestroyTensor(source.handle))
    rt.check(rt.api.aclDestroyTensor(first.handle))
    rt.execute(graph[0])
    assert (first.read() > 3).all()
    assert not second.read().any()


def test_an_executor_that_is_captured_is_consumed(rt: Graphs) -> None:
    """As by any launch, unless it is repeatable."""
    source, result = rt.array(np.ones(4, np.float32)), rt.array(np.zeros(4, np.float32))
    planned = rt.plan("aclnnSelu", source.handle, result.handle)
    with rt.captured():
        rt.check(rt.launch("aclnnSelu", planned))
        assert rt.launch("aclnnSelu", planned) == 161002
        assert "executor is a consumed or destroyed aclOpExecutor" in rt.message()


def test_host_functions_are_captured(rt: Graphs) -> None:
    """They are called once in each execution, in order."""
    block, seen = rt.malloc(SIZE), []
    with rt.captured() as graph:
        rt.check(rt.fill(block, 3))
        rt.launch_host(lambda: seen.append(rt.byte(block)))
        rt.check(rt.fill(block, 4))
    assert seen == []
    for _ in range(2):
        rt.execute(graph[0])
        assert rt.byte(block) == 4
    assert seen == [3, 3]


def test_a_failure_comes_with_the_synchronisation(rt: Graphs) -> None:
    """It names the graph's function and the operator; work behind it still runs."""
    indices = rt.array(np.full((1, 1, 1, 1, 1), -7, np.int64))
    gradient, result = (rt.array(np.ones((1, 1, 1, 1, 1), np.float32)) for _ in range(2))
    block = rt.malloc(SIZE)
    sizes = [rt.int_array([1, 1, 1]) for _ in range(3)]
    planned = rt.plan(
        "aclnnMaxUnpool3dBackward",
        gradient.handle,
        gradient.handle,
        indices.handle,
        *sizes,
        result.handle,
    )
    with rt.captured() as graph:
        rt.check(rt.launch("aclnnMaxUnpool3dBackward", planned))
        rt.check(rt.fill(block, 8))
    rt.check(rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream))
    assert rt.synchronize() == 361001
    assert "aclmdlRIExecuteAsync: aclnnMaxUnpool3dBackward: indices" in rt.message()
    assert rt.byte(block) == 8


# ---- events and other streams


def test_an_event_is_recorded_by_each_execution(rt: Graphs) -> None:
    """The host and other streams can wait for it then, and its time is that of the execution."""
    block, copy, event = rt.malloc(SIZE), rt.malloc(SIZE), rt.new_event()
    other, before = rt.new_stream(), rt.new_event()
    rt.check(rt.api.aclrtRecordEvent(before, rt.stream))
    with rt.captured() as graph:
        rt.check(rt.fill(block, 6))
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
    for _ in range(2):
        rt.check(rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream))
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        rt.check(rt.copy(copy, block, other))
        rt.check(rt.api.aclrtSynchronizeEvent(event))
        rt.check(rt.api.aclrtSynchronizeStream(other))
        assert rt.byte(copy) == 6
        status, elapsed = out(ct.c_float, rt.api.aclrtEventElapsedTime, before, event, first=True)
        assert (status, elapsed >= 0) == (0, True)


def test_no_call_waits_for_a_captured_event(rt: Graphs) -> None:
    """Before the graph is executed such a wait would never end: it is an error instead."""
    event, other = rt.new_event(), rt.new_stream()
    with rt.captured() as graph:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        assert rt.api.aclrtSynchronizeEvent(event) == PARAM_INVALID
        assert "recorded in a capture of stream" in rt.message()
    assert rt.api.aclrtSynchronizeEventWithTimeout(event, 10) == PARAM_INVALID
    for query in ("aclrtQueryEvent", "aclrtQueryEventStatus"):
        assert out(ct.c_int, getattr(rt.api, query), event)[0] == PARAM_INVALID
    assert out(ct.c_uint64, rt.api.aclrtEventGetTimestamp, event)[0] == TIMESTAMP_INVALID
    assert rt.api.aclrtStreamWaitEvent(other, event) == PARAM_INVALID
    assert "which has ended" in rt.message()
    rt.execute(graph[0])
    rt.check(rt.api.aclrtStreamWaitEvent(other, event))
    rt.check(rt.api.aclrtSynchronizeEvent(event))


def test_a_captured_wait_is_for_the_latest_recording(rt: Graphs) -> None:
    """An execution waits for what the event has recorded outside by then."""
    block, copy, event, other = rt.malloc(SIZE), rt.malloc(SIZE), rt.new_event(), rt.new_stream()
    with rt.captured() as graph:
        rt.check(rt.api.aclrtStreamWaitEvent(rt.stream, event))
        rt.check(rt.copy(copy, block))
    for value in (1, 2):
        with rt.held(other) as release:
            rt.check(rt.fill(block, value, other))
            rt.check(rt.api.aclrtRecordEvent(event, other))
            rt.check(rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream))
            release()
        assert rt.synchronize() == 0
        assert rt.byte(copy) == value
        rt.check(rt.api.aclrtSynchronizeStream(other))


def test_a_captured_reset(rt: Graphs) -> None:
    """An event that is reset at the end of the graph is not recorded after an execution."""
    event = rt.new_event()
    with rt.captured() as graph:
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtResetEvent(event, rt.stream))
    for _ in range(2):
        rt.execute(graph[0])
        assert out(ct.c_uint64, rt.api.aclrtEventGetTimestamp, event)[0] == TIMESTAMP_INVALID


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


# ---- freed memory


def freed_graph(rt: Graphs) -> tuple[int, int, int]:
    """A graph that reads a buffer which can be freed, that buffer, and one that it writes before.

    The buffer is as large as no other, so that its address is given out again.
    """
    size = 1 << 20
    status, buffer = out(ct.c_void_p, rt.api.aclrtMalloc, size, 0, first=True)
    rt.check(status)
    other = rt.malloc(size)
    with rt.captured() as graph:
        rt.check(rt.api.aclrtMemsetAsync(other, SIZE, 1, SIZE, rt.stream))
        rt.check(rt.copy(other, buffer))
    return graph[0], buffer, other


def test_freed_memory_is_reported_and_nothing_runs(rt: Graphs) -> None:
    """The message names the function, the argument, and the place in the graph."""
    graph, buffer, other = freed_graph(rt)
    rt.check(rt.api.aclrtMemset(other, SIZE, 7, SIZE))
    rt.check(rt.api.aclrtFree(buffer))
    for _ in range(2):
        assert rt.api.aclmdlRIExecuteAsync(graph, rt.stream) == PARAM_INVALID
        message = rt.message()
        assert "aclrtMemcpyAsync, number 2 of the 2 that modelRI captured: src is in" in message
        assert "freed" in message
        assert rt.synchronize() == 0
        assert rt.byte(other) == 7
    assert rt.malloc(1 << 20) == buffer
    assert rt.api.aclmdlRIExecuteAsync(graph, rt.stream) == PARAM_INVALID
    assert "allocated again since" in rt.message()


def test_memory_freed_after_the_call(rt: Graphs) -> None:
    """Where the graph has to wait, its memory is looked at once more, and nothing runs."""
    graph, buffer, other = freed_graph(rt)
    rt.check(rt.api.aclrtMemset(other, SIZE, 7, SIZE))
    with rt.held() as release:
        rt.check(rt.api.aclmdlRIExecuteAsync(graph, rt.stream))
        rt.check(rt.api.aclrtFree(buffer))
        release()
    assert rt.synchronize() == PARAM_INVALID
    assert "src is in memory of the runtime that was freed" in rt.message()
    assert rt.byte(other) == 7


def test_operands_and_workspaces_are_looked_at(rt: Graphs) -> None:
    """The operator and its argument are named."""
    values = np.ones((1, 1, 2, 2, 2), np.float32)
    source, result = rt.array(values), rt.array(values)
    planned = rt.plan("aclnnSelu", source.handle, result.handle)
    with rt.captured() as graph:
        rt.check(rt.launch("aclnnSelu", planned))
    rt.check(rt.api.aclrtFree(result.address))
    assert rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream) == PARAM_INVALID
    assert "aclnnSelu, number 1 of the 1 that modelRI captured: out is in" in rt.message()


# ---- what cannot be captured


@pytest.mark.parametrize(
    "call",
    [
        lambda rt: rt.api.aclrtSynchronizeStream(rt.stream),
        lambda rt: rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, 10),
        lambda rt: rt.api.aclrtSynchronizeDevice(),
        lambda rt: rt.api.aclrtSynchronizeDeviceWithTimeout(10),
        lambda rt: rt.api.aclrtFreeWithDevSync(rt.malloc(SIZE)),
        lambda rt: out(ct.c_int, rt.api.aclrtStreamQuery, rt.stream)[0],
        lambda rt: rt.api.aclrtDestroyStream(rt.stream),
        lambda rt: rt.api.aclmdlRIExecuteAsync(rt.earlier, rt.stream),
        lambda rt: rt.api.aclrtLaunchCallback(rt.host(lambda: None), None, 1, rt.stream),
    ],
)
def test_synchronous_calls_name_the_stream(rt: Graphs, call: Callable[[Graphs], int]) -> None:
    """They cannot be served while the stream is captured, and change nothing."""
    block, thread = rt.malloc(SIZE), threading.get_ident()
    rt.check(rt.api.aclrtSubscribeReport(thread, rt.stream))
    with rt.captured() as graph:
        pass
    rt.earlier = graph[0]
    with rt.captured(RELAXED) as graph:
        assert call(rt) == PARAM_INVALID
        assert f"stream {rt.id(rt.stream)} is being captured" in rt.message()
        rt.check(rt.fill(block, 2))
    rt.execute(graph[0])
    assert rt.byte(block) == 2
    rt.check(rt.api.aclrtUnSubscribeReport(thread, rt.stream))


@pytest.mark.parametrize(
    ("mode", "here", "elsewhere"),
    [(GLOBAL, True, True), (THREAD_LOCAL, True, False), (RELAXED, False, False)],
)
def test_modes(rt: Graphs, mode: int, here: bool, elsewhere: bool) -> None:
    """A mode forbids synchronous copies and fills to all threads, to one, or to none."""
    block, array = rt.malloc(SIZE), np.zeros(SIZE, np.uint8)
    host = array.ctypes.data
    calls = [
        lambda: rt.api.aclrtMemcpy(block, SIZE, host, SIZE, 1),
        lambda: rt.api.aclrtMemset(block, SIZE, 0, SIZE),
        lambda: rt.api.aclrtMemcpy2d(block, 8, host, 8, 8, 8, 1),
    ]

    def allowed_elsewhere() -> list[int]:
        rt.check(rt.api.aclrtSetDevice(0))
        codes = [call() for call in calls]
        rt.check(rt.api.aclrtResetDevice(0))
        return codes

    with rt.captured(mode):
        assert [call() for call in calls] == [PARAM_INVALID if here else 0] * 3
        if here:
            assert f"stream {rt.id(rt.stream)} is being captured in mode" in rt.message()
        assert in_thread(allowed_elsewhere) == [PARAM_INVALID if elsewhere else 0] * 3
        rt.malloc(SIZE)
    assert [call() for call in calls] == [0] * 3


# ---- arguments


def test_bad_streams_and_modes(rt: Graphs) -> None:
    """Dead handles, no handles, unknown modes, and streams that are not captured."""
    dead = made(rt.api.aclrtCreateStream)
    rt.check(rt.api.aclrtDestroyStream(dead))
    event = rt.new_event()
    for wrong in (dead, NOT_A_HANDLE, event):
        assert rt.api.aclmdlRICaptureBegin(wrong, GLOBAL) == INVALID_HANDLE
        assert "stream is " in rt.message()
        assert rt.failed_end(wrong) == INVALID_HANDLE
        assert rt.failed_info(wrong) == INVALID_HANDLE
    for mode in (-1, 3, 1 << 30):
        assert rt.api.aclmdlRICaptureBegin(rt.stream, mode) == PARAM_INVALID
        assert f"mode is {mode}; it must be one of aclmdlRICaptureMode, 0 to 2" in rt.message()
    assert rt.failed_end() == PARAM_INVALID
    assert "stream is not being captured" in rt.message()
    assert rt.info(rt.stream) == (NONE, None)


def test_null_results(rt: Graphs) -> None:
    """A null result is an error that leaves the capture as it was."""
    status, graph = ct.c_int(), ct.c_void_p()
    with rt.captured():
        assert rt.api.aclmdlRICaptureEnd(rt.stream, None) == PARAM_INVALID
        assert "modelRI is null" in rt.message()
        info = rt.api.aclmdlRICaptureGetInfo
        assert info(rt.stream, None, ct.byref(graph)) == PARAM_INVALID
        assert "status is null" in rt.message()
        assert info(rt.stream, ct.byref(status), None) == PARAM_INVALID
        assert "modelRI is null" in rt.message()
        assert rt.info(rt.stream)[0] == ACTIVE


def test_bad_graphs(rt: Graphs) -> None:
    """Null, dead and foreign handles, and a graph that is still being captured."""
    with rt.captured() as graph:
        pass
    rt.check(rt.api.aclmdlRIDestroy(graph[0]))
    for wrong, code in (
        (None, PARAM_INVALID),
        (graph[0], INVALID_HANDLE),
        (NOT_A_HANDLE, INVALID_HANDLE),
        (rt.stream, INVALID_HANDLE),
    ):
        assert rt.api.aclmdlRIExecuteAsync(wrong, rt.stream) == code
        assert "modelRI is " in rt.message()
        assert rt.api.aclmdlRIDestroy(wrong) == code
        assert "expected a live aclmdlRI" in rt.message()
    with rt.captured() as graph:
        assert rt.api.aclmdlRICaptureBegin(rt.stream, GLOBAL) == PARAM_INVALID
        assert "stream is being captured already" in rt.message()
        status, unfinished = rt.info(rt.stream)
        assert status == ACTIVE
        assert rt.api.aclmdlRIDestroy(unfinished) == PARAM_INVALID
        assert "still being captured" in rt.message()
        assert rt.api.aclmdlRIExecuteAsync(unfinished, None) == PARAM_INVALID
    assert graph[0] == unfinished
    assert rt.api.aclmdlRIExecuteAsync(graph[0], NOT_A_HANDLE) == INVALID_HANDLE


def test_another_context(rt: Graphs) -> None:
    """A graph belongs to the context that it was captured in, as its stream does."""
    with rt.captured() as graph:
        pass
    status, mine = out(ct.c_void_p, rt.api.aclrtGetCurrentContext)
    rt.check(status)
    context = made(rt.api.aclrtCreateContext, 0)
    assert rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream) == STREAM_CONTEXT
    assert rt.api.aclmdlRIExecuteAsync(graph[0], None) == STREAM_CONTEXT
    assert "modelRI was captured in another context than that of stream" in rt.message()
    assert rt.api.aclmdlRICaptureBegin(rt.stream, GLOBAL) == STREAM_CONTEXT
    rt.check(rt.api.aclrtDestroyContext(context))
    rt.check(rt.api.aclrtSetCurrentContext(mine))


# ---- ends


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


@pytest.mark.alone
def test_a_replay_is_cheaper_than_launches(tmp_path: Path) -> None:
    """A hundred launches on 16 elements cost less than half when they are replayed, also after
    memory was allocated. They cost less than a third, but this machine may be busy.
    """
    done = run(compiled("replay_speed", tmp_path))
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    both_phases, _, replayed, after_allocation = map(float, done.stdout.split())
    assert replayed < both_phases / 2
    assert after_allocation < both_phases / 2
