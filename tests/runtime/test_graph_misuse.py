# SPDX-License-Identifier: Apache-2.0
"""Graphs whose memory was freed, calls that cannot be captured, bad arguments, early ends."""

from __future__ import annotations

import ctypes as ct
import threading
from collections.abc import Callable

import numpy as np
import pytest

from softnpu import acl
from tests.support.acl_runtime import (
    INVALID_HANDLE,
    NOT_A_HANDLE,
    PARAM_INVALID,
    STREAM_CONTEXT,
    in_thread,
    made,
    out,
)
from tests.support.graphs import (
    ACTIVE,
    GLOBAL,
    NONE,
    RELAXED,
    SIZE,
    THREAD_LOCAL,
    Graphs,
)

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


def test_python_functions_are_not_captured(rt: Graphs) -> None:
    """Each is called once and let go, so that a graph could not call it again."""
    with rt.captured():
        assert acl.rt.launch_host_func(rt.stream, print, None) == PARAM_INVALID
        assert f"stream {rt.id(rt.stream)} is being captured" in rt.message()


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
