# SPDX-License-Identifier: Apache-2.0
"""Graphs: what is captured is not run, and every execution runs it in order."""

from __future__ import annotations

import ctypes as ct

import numpy as np

from softnpu import reference
from tests.support.acl_runtime import (
    PARAM_INVALID,
    TIMESTAMP_INVALID,
    out,
)
from tests.support.graphs import (
    RELAXED,
    SIZE,
    Graphs,
)
from tests.support.native import compiled, run
from tests.support.virtual_memory import Range


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


def test_memory_that_is_mapped_anew(rt: Graphs) -> None:
    """A reserved address keeps its meaning: what is mapped there when a graph runs is used."""
    with Range(rt, 2) as addresses:
        addresses.map(0)
        values = np.linspace(-2, 2, 16, dtype=np.float32)
        tensor, target = rt.tensor("FLOAT", (16,), addresses.base), rt.malloc(SIZE)
        with rt.captured() as graph:
            rt.check(rt.launch("aclnnInplaceSelu", rt.plan("aclnnInplaceSelu", tensor)))
            rt.check(rt.copy(target, addresses.base))
        addresses.end(0)
        assert rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream) == PARAM_INVALID
        assert "no memory is mapped at" in rt.message()
        addresses.map(0)
        rt.upload(values, addresses.base)
        rt.execute(graph[0])
        expected = reference.selu(values).astype(np.float32)
        np.testing.assert_allclose(rt.download(target, SIZE).view(np.float32), expected, rtol=1e-6)
        addresses.end(0)


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


def test_a_replay_is_cheaper_than_launches() -> None:
    """A hundred launches on 16 elements cost less than half of their processor time when they are
    replayed, also after memory was allocated.
    """
    done = run(compiled("replay_speed"))
    assert done.returncode == 0, done.stderr
    both_phases, replayed, after_allocation = map(float, done.stdout.split())
    assert replayed < both_phases / 2
    assert after_allocation < both_phases / 2
