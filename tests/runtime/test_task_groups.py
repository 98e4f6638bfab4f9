# SPDX-License-Identifier: Apache-2.0
"""Task groups: captured work whose arguments are replaced after the capture."""

from __future__ import annotations

import ctypes as ct

import numpy as np
import pytest

from tests.support.acl_runtime import NOT_A_HANDLE, PARAM_INVALID, out
from tests.support.graphs import SIZE, Graphs


class Grouped:
    """A graph that fills a buffer with 1, and in a group with 2 and 3 in two other places."""

    def __init__(self, rt: Graphs) -> None:
        self.rt = rt
        self.blocks = [rt.malloc(SIZE) for _ in range(3)]
        with rt.captured() as graph:
            rt.check(rt.fill(self.blocks[0], 1))
            rt.check(rt.api.aclmdlRICaptureTaskGrpBegin(rt.stream))
            rt.check(rt.fill(self.blocks[1], 2))
            rt.check(rt.fill(self.blocks[2], 3))
            status, self.group = out(ct.c_void_p, rt.api.aclmdlRICaptureTaskGrpEnd, rt.stream)
            rt.check(status)
        self.graph = graph[0]

    def update(self, *values: int, stream: int | None = None) -> int:
        """Fill the places of the group with other values."""
        stream = self.rt.stream if stream is None else stream
        self.rt.check(self.rt.api.aclmdlRICaptureTaskUpdateBegin(stream, self.group))
        for block, value in zip(self.blocks[1:], values, strict=False):
            self.rt.check(self.rt.fill(block, value, stream))
        return int(self.rt.api.aclmdlRICaptureTaskUpdateEnd(stream))

    def bytes(self) -> list[int]:
        """What the places have."""
        return [self.rt.byte(block) for block in self.blocks]


def test_an_update_replaces_the_group(rt: Graphs) -> None:
    """The update itself runs nothing; the rest of the graph stays."""
    grouped, other = Grouped(rt), rt.new_stream()
    rt.execute(grouped.graph)
    assert grouped.bytes() == [1, 2, 3]
    for values, stream in (((4, 5), rt.stream), ((6, 7), other)):
        before = grouped.bytes()
        rt.check(grouped.update(*values, stream=stream))
        rt.check(rt.api.aclrtSynchronizeStream(stream))
        assert grouped.bytes() == before
        rt.execute(grouped.graph)
        assert grouped.bytes() == [1, *values]


def test_an_operator_is_updated(rt: Graphs) -> None:
    """Its operands are the new ones, and descriptors may be destroyed."""
    given = [rt.array(np.full(8, value, np.float32)) for value in (1, 2)]
    results = [rt.array(np.zeros(8, np.float32)) for _ in range(2)]
    with rt.captured() as graph:
        rt.check(rt.api.aclmdlRICaptureTaskGrpBegin(rt.stream))
        planned = rt.plan("aclnnSelu", given[0].handle, results[0].handle)
        rt.check(rt.launch("aclnnSelu", planned))
        status, group = out(ct.c_void_p, rt.api.aclmdlRICaptureTaskGrpEnd, rt.stream)
        rt.check(status)
    rt.check(rt.api.aclmdlRICaptureTaskUpdateBegin(rt.stream, group))
    planned = rt.plan("aclnnSelu", given[1].handle, results[1].handle)
    rt.check(rt.launch("aclnnSelu", planned))
    rt.check(rt.api.aclmdlRICaptureTaskUpdateEnd(rt.stream))
    rt.execute(graph[0])
    assert not results[0].read().any()
    assert results[1].read() == pytest.approx(2 * 1.0507009)
    rt.check(rt.api.aclrtFree(results[1].address))
    assert rt.api.aclmdlRIExecuteAsync(graph[0], rt.stream) == PARAM_INVALID
    assert "aclnnSelu, number 1 of the 1 that modelRI captured: out is in" in rt.message()


def test_an_update_that_does_not_match(rt: Graphs) -> None:
    """Another number of tasks, or another function, changes nothing."""
    grouped = Grouped(rt)
    assert grouped.update(4) == PARAM_INVALID
    assert "the update has 1 tasks, but the task group has 2" in rt.message()
    rt.check(rt.api.aclmdlRICaptureTaskUpdateBegin(rt.stream, grouped.group))
    rt.check(rt.fill(grouped.blocks[1], 9))
    rt.check(rt.copy(grouped.blocks[2], grouped.blocks[1]))
    assert rt.api.aclmdlRICaptureTaskUpdateEnd(rt.stream) == PARAM_INVALID
    assert "task 2 of the update is aclrtMemcpyAsync" in rt.message()
    rt.execute(grouped.graph)
    assert grouped.bytes() == [1, 2, 3]


def test_calls_out_of_order(rt: Graphs) -> None:
    """Each names the stream or the handle."""
    api, stream = rt.api, rt.stream
    place = ct.c_void_p(7)
    assert api.aclmdlRICaptureTaskGrpBegin(stream) == PARAM_INVALID
    assert "is not being captured" in rt.message()
    assert api.aclmdlRICaptureTaskGrpEnd(stream, ct.byref(place)) == PARAM_INVALID
    assert place.value is None
    assert api.aclmdlRICaptureTaskUpdateEnd(stream) == PARAM_INVALID
    for handle in (None, NOT_A_HANDLE):
        assert api.aclmdlRICaptureTaskUpdateBegin(stream, handle) == PARAM_INVALID
    with rt.captured():
        rt.check(api.aclmdlRICaptureTaskGrpBegin(stream))
        assert api.aclmdlRICaptureTaskGrpBegin(stream) == PARAM_INVALID
        assert api.aclmdlRICaptureTaskGrpEnd(stream, None) == PARAM_INVALID
        assert api.aclmdlRICaptureTaskGrpEnd(stream, ct.byref(place)) == PARAM_INVALID
        assert "has no operator, copy or fill" in rt.message()
    grouped = Grouped(rt)
    rt.check(api.aclmdlRICaptureTaskUpdateBegin(stream, grouped.group))
    assert api.aclmdlRICaptureTaskUpdateBegin(stream, grouped.group) == PARAM_INVALID
    assert api.aclrtSynchronizeStream(stream) == PARAM_INVALID
    assert api.aclmdlRICaptureTaskUpdateEnd(stream) == PARAM_INVALID
    assert rt.synchronize() == 0


def test_a_stream_ends_in_an_update(rt: Graphs) -> None:
    """The update is dropped with it."""
    grouped = Grouped(rt)
    status, stream = out(ct.c_void_p, rt.api.aclrtCreateStream)
    rt.check(status)
    rt.check(rt.api.aclmdlRICaptureTaskUpdateBegin(stream, grouped.group))
    rt.check(rt.api.aclrtDestroyStreamForce(stream))
    rt.execute(grouped.graph)
    assert grouped.bytes() == [1, 2, 3]
    assert rt.api.aclmdlRICaptureTaskUpdateEnd(stream) != 0


def test_a_group_ends_with_its_graph(rt: Graphs) -> None:
    """The handle is then refused."""
    block = rt.malloc(SIZE)
    rt.check(rt.api.aclmdlRICaptureBegin(rt.stream, 0))
    rt.check(rt.api.aclmdlRICaptureTaskGrpBegin(rt.stream))
    rt.check(rt.fill(block, 2))
    group, graph = ct.c_void_p(), ct.c_void_p()
    rt.check(rt.api.aclmdlRICaptureTaskGrpEnd(rt.stream, ct.byref(group)))
    rt.check(rt.api.aclmdlRICaptureEnd(rt.stream, ct.byref(graph)))
    rt.check(rt.api.aclmdlRIDestroy(graph))
    assert rt.api.aclmdlRICaptureTaskUpdateBegin(rt.stream, group) == PARAM_INVALID
    assert "its graph was destroyed" in rt.message()


def test_a_group_without_an_end(rt: Graphs) -> None:
    """It ends with its graph, which a stream does not keep."""
    with rt.captured() as graph:
        rt.check(rt.api.aclmdlRICaptureTaskGrpBegin(rt.stream))
        rt.check(rt.fill(rt.malloc(SIZE), 1))
    rt.check(rt.api.aclmdlRIDestroy(graph[0]))
    assert out(ct.c_void_p, rt.api.aclmdlRICaptureTaskGrpEnd, rt.stream)[0] == PARAM_INVALID
    assert "has no task group that could end" in rt.message()
