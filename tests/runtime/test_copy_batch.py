# SPDX-License-Identifier: Apache-2.0
"""Many copies in one call: which one is wrong, and where memory lies."""

import ctypes as ct
from typing import Any

import numpy as np
import pytest

from tests.runtime.test_copy import pattern
from tests.support.acl_runtime import INVALID_DEVICEID, INVALID_HANDLE, PARAM_INVALID, Runtime
from tests.support.virtual_memory import BatchAttr, Location

HOST, DEVICE = Location(99, 0), Location(0, 1)
NO_INDEX = 2**64 - 1


class Batch:
    """The arguments of aclrtMemcpyBatchAsync, or of aclrtMemcpyBatch, which is `at_once`.

    There are three copies, two to the device and one back.
    """

    def __init__(self, rt: Runtime, at_once: bool = False) -> None:
        self.rt = rt
        self.sent = [pattern(100, 1), pattern(40, 2)]
        self.received = np.zeros(100, np.uint8)
        self.blocks = [rt.malloc(100), rt.malloc(50)]
        self.dsts = [*self.blocks, self.received.ctypes.data]
        self.maxs = [100, 50, 100]
        self.srcs = [*(each.ctypes.data for each in self.sent), self.blocks[0]]
        self.sizes = [100, 40, 100]
        self.attrs = [(DEVICE, HOST), (HOST, DEVICE)]  # of dst and src
        self.indexes = [0, 2]
        self.changes: dict[str, Any] = {}
        self.at_once = at_once

    def run(self) -> tuple[int, int]:
        """The status, and failIndex."""
        attrs = (BatchAttr * 4)(*(BatchAttr(dst, src) for dst, src in self.attrs))
        failing = ct.c_size_t(7)
        arguments = {
            "dsts": (ct.c_void_p * 3)(*self.dsts),
            "destMaxs": (ct.c_size_t * 3)(*self.maxs),
            "srcs": (ct.c_void_p * 3)(*self.srcs),
            "sizes": (ct.c_size_t * 3)(*self.sizes),
            "numBatches": 3,
            "attrs": attrs,
            "attrsIndexes": (ct.c_size_t * 4)(*self.indexes),
            "numAttrs": len(self.attrs),
            "failIndex": ct.byref(failing),
            "stream": self.rt.stream,
            **self.changes,
        }
        if self.at_once:
            del arguments["stream"]
            return self.rt.api.aclrtMemcpyBatch(*arguments.values()), failing.value
        return self.rt.api.aclrtMemcpyBatchAsync(*arguments.values()), failing.value


def test_batch(rt: Runtime) -> None:
    """All copies run in the stream's order, after the call."""
    batch = Batch(rt)
    with rt.held() as release:
        assert batch.run() == (0, NO_INDEX)
        assert not batch.received.any()
        release()
    assert rt.synchronize() == 0
    assert (batch.received == batch.sent[0]).all()
    assert (rt.download(batch.blocks[1], 40) == batch.sent[1]).all()


both = pytest.mark.parametrize("at_once", [False, True])


def test_batch_at_once(rt: Runtime) -> None:
    """When the call returns, all copies are made, whatever the stream waits for."""
    batch = Batch(rt, at_once=True)
    with rt.held():
        assert batch.run() == (0, NO_INDEX)
        assert (batch.received == batch.sent[0]).all()


@both
@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("dsts", None, "dst is null"),
        ("srcs", None, "src is null"),
        ("maxs", 3, ", above destMax, which is 3"),
        ("sizes", 101, "101"),
    ],
)
def test_batch_with_a_wrong_copy(
    rt: Runtime, at_once: bool, index: int, field: str, value: Any, why: str
) -> None:
    """The message and failIndex say which is wrong, and none is made."""
    batch = Batch(rt, at_once)
    getattr(batch, field)[index] = value
    assert batch.run() == (PARAM_INVALID, index)
    said = rt.message()
    assert f"copy {index}: " in said
    assert why in said
    assert rt.synchronize() == 0
    assert not batch.received.any()


@both
@pytest.mark.parametrize(
    ("attrs", "index", "why"),
    [
        ([(HOST, HOST), (HOST, DEVICE)], 0, "dsts[0] is device memory, but attrs[0].dstLoc.type"),
        (
            [(DEVICE, DEVICE), (HOST, DEVICE)],
            0,
            "srcs[0] is not device memory, but attrs[0].srcLoc",
        ),
        (
            [(DEVICE, HOST), (DEVICE, DEVICE)],
            2,
            "dsts[2] is not device memory, but attrs[1].dstLoc",
        ),
        ([(DEVICE, HOST), (HOST, HOST)], 2, "srcs[2] is device memory, but attrs[1].srcLoc.type"),
        ([(DEVICE, HOST), (HOST, Location(0, 2))], 2, "attrs[1].srcLoc.type is 2"),
    ],
)
def test_batch_with_wrong_attributes(
    rt: Runtime, at_once: bool, attrs: Any, index: int, why: str
) -> None:
    """Where memory lies must be what the attributes say."""
    batch = Batch(rt, at_once)
    batch.attrs = attrs
    assert batch.run() == (PARAM_INVALID, index)
    assert why in rt.message()


@both
@pytest.mark.parametrize(
    ("change", "value", "why"),
    [
        *((name, None, name + " is null") for name in ("dsts", "destMaxs", "srcs", "sizes")),
        ("attrs", None, "attrs is null"),
        ("attrsIndexes", None, "attrsIndexes is null"),
        ("failIndex", None, "failIndex is null"),
        ("numBatches", 0, "numBatches is 0"),
        ("numAttrs", 0, "numAttrs is 0"),
        ("numAttrs", 4, "numAttrs is 4"),
        ("attrsIndexes", (ct.c_size_t * 2)(1, 2), "attrsIndexes[0] is 1; it must be 0"),
        ("attrsIndexes", (ct.c_size_t * 2)(0, 0), "attrsIndexes[1] is 0"),
        ("attrsIndexes", (ct.c_size_t * 2)(0, 3), "attrsIndexes[1] is 3"),
    ],
)
def test_batch_misuse(rt: Runtime, at_once: bool, change: str, value: Any, why: str) -> None:
    """What is wrong with the call itself gives no index."""
    batch = Batch(rt, at_once)
    batch.changes[change] = value
    assert batch.run() == (PARAM_INVALID, 7 if change == "failIndex" else NO_INDEX)
    assert why in rt.message()


def test_batch_of_other_devices_and_streams(rt: Runtime) -> None:
    """A device that is not there gives 107001, a dead stream 107017."""
    batch = Batch(rt)
    batch.attrs[0] = (Location(99, 1), HOST)
    assert batch.run() == (INVALID_DEVICEID, 0)
    assert "attrs[0].dstLoc.id is 99" in rt.message()
    batch = Batch(rt)
    batch.changes["stream"] = 0x1234
    assert batch.run() == (INVALID_HANDLE, NO_INDEX)
