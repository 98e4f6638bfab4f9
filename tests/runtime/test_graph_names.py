# SPDX-License-Identifier: Apache-2.0
"""Graphs: waiting executions, the mode of a thread, names, descriptions."""

from __future__ import annotations

import ctypes as ct
import json
from pathlib import Path

import pytest

from tests.support.acl_runtime import (
    INVALID_HANDLE,
    NOT_A_HANDLE,
    PARAM_INVALID,
    STREAM_SYNC_TIMEOUT,
    in_thread,
)
from tests.support.command import run_code
from tests.support.graphs import GLOBAL, RELAXED, SIZE, THREAD_LOCAL, Graphs
from tests.support.paths import ROOT

INTERNAL_ERROR = 507000


def filled(rt: Graphs, value: int) -> tuple[int, int]:
    """A graph that fills a buffer, and the buffer."""
    block = rt.malloc(SIZE)
    with rt.captured() as graph:
        rt.check(rt.fill(block, value))
    return graph[0], block


def exchanged(rt: Graphs, mode: int) -> tuple[int, int]:
    """The status, and the mode that the calling thread had."""
    value = ct.c_int(mode)
    return int(rt.api.aclmdlRICaptureThreadExchangeMode(ct.byref(value))), value.value


def test_an_execution_that_waits(rt: Graphs) -> None:
    """When the call returns, the graph has run."""
    graph, block = filled(rt, 5)
    rt.check(rt.api.aclmdlRIExecute(graph, -1))
    assert rt.byte(block) == 5
    for timeout in (0, -2):
        assert rt.api.aclmdlRIExecute(graph, timeout) == PARAM_INVALID
    assert rt.api.aclmdlRIExecute(NOT_A_HANDLE, 10) == INVALID_HANDLE


def test_an_execution_that_waits_too_long(rt: Graphs) -> None:
    """Work before it in the default stream holds it back; it runs later."""
    graph, block = filled(rt, 5)
    stream = ct.c_void_p()
    rt.check(rt.api.aclrtCtxGetCurrentDefaultStream(ct.byref(stream)))
    rt.check(rt.api.aclrtMemset(block, SIZE, 1, SIZE))
    with rt.held(stream.value) as release:
        assert rt.api.aclmdlRIExecute(graph, 1) == STREAM_SYNC_TIMEOUT
        assert rt.byte(block) == 1
        release()
    rt.check(rt.api.aclrtSynchronizeStream(None))
    assert rt.byte(block) == 5


def test_an_execution_that_is_aborted(rt: Graphs) -> None:
    """What waits does not run and is reported; later executions run."""
    graph, block = filled(rt, 5)
    rt.check(rt.api.aclrtMemset(block, SIZE, 1, SIZE))
    with rt.held() as release:
        rt.check(rt.api.aclmdlRIExecuteAsync(graph, rt.stream))
        rt.check(rt.api.aclmdlRIAbort(graph))
        release()
    assert rt.synchronize() == INTERNAL_ERROR
    assert "modelRI was aborted" in rt.message()
    assert rt.byte(block) == 1
    rt.execute(graph)
    assert rt.byte(block) == 5
    assert rt.api.aclmdlRIAbort(NOT_A_HANDLE) == INVALID_HANDLE


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL, RELAXED])
@pytest.mark.parametrize("own", [GLOBAL, THREAD_LOCAL, RELAXED])
def test_the_mode_of_a_thread(rt: Graphs, mode: int, own: int) -> None:
    """A capture forbids a copy if both modes do: that of the capture and that of the thread."""
    block = rt.malloc(SIZE)

    def fill() -> int:
        return int(rt.api.aclrtMemset(block, SIZE, 1, SIZE))

    def fill_elsewhere() -> int:
        rt.check(rt.api.aclrtSetDevice(0))
        assert exchanged(rt, own) == (0, GLOBAL)
        status = fill()
        rt.check(rt.api.aclrtResetDevice(0))
        return status

    assert exchanged(rt, own) == (0, GLOBAL)
    try:
        with rt.captured(mode):
            here, there = fill(), in_thread(fill_elsewhere)
    finally:
        assert exchanged(rt, GLOBAL) == (0, own)
    assert here == (PARAM_INVALID if RELAXED not in (mode, own) else 0)
    assert there == (PARAM_INVALID if mode == own == GLOBAL else 0)


def test_misuse_of_the_mode(rt: Graphs) -> None:
    """An unknown mode changes nothing."""
    assert exchanged(rt, 3) == (PARAM_INVALID, 3)
    assert "mode is 3" in rt.message()
    assert rt.api.aclmdlRICaptureThreadExchangeMode(None) == PARAM_INVALID
    assert exchanged(rt, GLOBAL) == (0, GLOBAL)


def test_names(rt: Graphs) -> None:
    """A graph's name is empty until it is set; an array that is too small is refused."""
    graph, _ = filled(rt, 1)
    name = ct.create_string_buffer(b"before", 8)
    rt.check(rt.api.aclmdlRIGetName(graph, 1, name))
    assert name.value == b""
    rt.check(rt.api.aclmdlRISetName(graph, b"decoder"))
    rt.check(rt.api.aclmdlRIGetName(graph, 8, name))
    assert name.value == b"decoder"
    assert rt.api.aclmdlRIGetName(graph, 7, name) == PARAM_INVALID
    assert "maxLen is 7, but the name and its null character have 8 bytes" in rt.message()
    assert rt.api.aclmdlRIGetName(graph, 8, None) == PARAM_INVALID
    assert rt.api.aclmdlRISetName(graph, None) == PARAM_INVALID
    assert rt.api.aclmdlRISetName(NOT_A_HANDLE, b"x") == INVALID_HANDLE
    assert rt.api.aclmdlRIGetName(None, 8, name) == PARAM_INVALID


def test_a_description_for_trace_viewers(rt: Graphs, tmp_path: Path) -> None:
    """One event for each captured call, in order, with the stream that captured it."""
    block, event, other = rt.malloc(SIZE), rt.new_event(), rt.new_stream()
    with rt.captured() as graph:
        rt.check(rt.fill(block, 1))
        rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
        rt.check(rt.api.aclrtStreamWaitEvent(other, event))
        rt.check(rt.copy(block, rt.malloc(SIZE), other))
        rt.check(rt.api.aclrtRecordEvent(event, other))
        rt.check(rt.api.aclrtStreamWaitEvent(rt.stream, event))
    file = tmp_path / "graph.json"
    rt.check(rt.api.aclmdlRIDebugJsonPrint(graph[0], str(file).encode(), 0))
    events = json.loads(file.read_text("utf-8"))
    named = [(each["name"], each["tid"]) for each in events]
    first, second = rt.id(rt.stream), rt.id(other)
    assert named[0] == ("aclrtMemsetAsync", first)
    assert ("aclrtMemcpyAsync", second) in named
    assert ("aclrtRecordEvent", first) in named
    times = [each["ts"] for each in events]
    assert times == sorted(set(times))
    assert rt.api.aclmdlRIDebugJsonPrint(graph[0], None, 0) == PARAM_INVALID
    missing = str(tmp_path / "none" / "graph.json").encode()
    assert rt.api.aclmdlRIDebugJsonPrint(graph[0], missing, 0) == PARAM_INVALID
    assert "No such file or directory" in rt.message()
    assert rt.api.aclmdlRIDebugJsonPrint(NOT_A_HANDLE, b"x", 0) == INVALID_HANDLE


def test_a_description_on_stderr() -> None:
    """A line for the graph, and one for each call."""
    program = (
        "from tests.support.graphs import Graphs\n"
        "from tests.runtime.test_graph_names import filled\n"
        "with Graphs() as rt:\n"
        "    graph, _ = filled(rt, 1)\n"
        "    rt.check(rt.api.aclmdlRISetName(graph, b'fills'))\n"
        "    rt.check(rt.api.aclmdlRIDebugPrint(graph))\n"
        "    assert rt.api.aclmdlRIDebugPrint(None) == 107000\n"
    )
    done = run_code(program, ROOT, {}, [str(ROOT)])
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert 'softnpu: graph "fills": 1 calls' in lines
    assert any(line.startswith("softnpu:   1: aclrtMemsetAsync in stream ") for line in lines)
