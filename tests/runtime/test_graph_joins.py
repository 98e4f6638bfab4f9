# SPDX-License-Identifier: Apache-2.0
"""Captures of several streams: a stream joins a capture by waiting for one of its events."""

from __future__ import annotations

from tests.support.acl_runtime import (
    PARAM_INVALID,
)
from tests.support.graphs import (
    GLOBAL,
    NONE,
    SIZE,
    Graphs,
)


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
