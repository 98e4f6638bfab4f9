# SPDX-License-Identifier: Apache-2.0
"""Graphs: what is captured is not run, and every execution runs it in order."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tests.support.acl_runtime import (
    Runtime,
    out,
)

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE, INVALIDATED = 0, 1, 2
SIZE = 64


class Graphs(Runtime):
    """A session that captures."""

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
    for factor in (1, 1, 2):
        rt.upload(values * factor, source.address)
        rt.execute(graph[0])
        scaled = np.where(values > 0, values * factor, np.expm1(values * factor))
        np.testing.assert_allclose(rt.download(final, SIZE).view(np.float32), scaled, rtol=1e-6)
        assert (result.read().view(np.uint8) == 7).all()
    assert expected.shape == values.shape
