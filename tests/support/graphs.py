# SPDX-License-Identifier: Apache-2.0
"""A session that captures work in graphs."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.acl_runtime import Runtime, out

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
