# SPDX-License-Identifier: Apache-2.0
"""Copies and fills: directions, bounds, order, misuse."""

import ctypes as ct
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.acl_runtime import CONTEXT_NULL, PARAM_INVALID, Runtime, in_thread, made

Bytes = npt.NDArray[np.uint8]


def pattern(size: int, seed: int = 0) -> Bytes:
    """Bytes that tell a wrong copy."""
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def copy(
    rt: Runtime, asynchronous: bool, dst: Any, dst_max: int, src: Any, count: int, kind: int = 4
) -> int:
    """One of the two copies; the asynchronous one is waited for."""
    if not asynchronous:
        return int(rt.api.aclrtMemcpy(dst, dst_max, src, count, kind))
    status = rt.api.aclrtMemcpyAsync(dst, dst_max, src, count, kind, rt.stream)
    return int(status) or rt.synchronize()


@pytest.fixture(params=[False, True], ids=["blocking", "async"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    """Whether the copy is the asynchronous one."""
    return bool(request.param)


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4, 99])
def test_direction_follows_from_addresses(rt: Runtime, asynchronous: bool, kind: int) -> None:
    """Every direction works under every kind, which is ignored."""
    sent = pattern(1000)
    received = np.zeros(1000, np.uint8)
    a, b = rt.malloc(1000), rt.malloc(1000)
    pinned = made(rt.api.aclrtMallocHost, 1000)
    chain = [sent.ctypes.data, a, b, pinned, received.ctypes.data]
    for src, dst in itertools.pairwise(chain):
        assert copy(rt, asynchronous, dst, 1000, src, 1000, kind) == 0
    assert (received == sent).all()
    rt.check(rt.api.aclrtFreeHost(pinned))


def test_count_above_dest_max(rt: Runtime, asynchronous: bool) -> None:
    """`count` > destMax gives 107000 and copies nothing."""
    block = rt.upload(pattern(100, 1))
    sent = pattern(100, 2)
    assert copy(rt, asynchronous, block, 99, sent.ctypes.data, 100) == PARAM_INVALID
    assert "count is 100, above destMax, which is 99" in rt.message()
    assert (rt.download(block, 100) == pattern(100, 1)).all()


def test_count_below_dest_max(rt: Runtime, asynchronous: bool) -> None:
    """Exactly count bytes are copied, whatever destMax is."""
    block = rt.upload(pattern(100, 1))
    sent = pattern(100, 2)
    assert copy(rt, asynchronous, block, 2**64 - 1, sent.ctypes.data, 40) == 0
    assert (rt.download(block, 100) == np.r_[sent[:40], pattern(100, 1)[40:]]).all()


@pytest.mark.parametrize("family", ["device", "host"])
def test_past_allocation(rt: Runtime, asynchronous: bool, family: str) -> None:
    """A range that leaves the allocation in which it starts gives 107000 and copies nothing."""
    is_host = family == "host"
    block = made(rt.api.aclrtMallocHost, 100) if is_host else made(rt.api.aclrtMalloc, 100, 0)
    mine = pattern(200)
    before = mine.copy()
    rt.check(rt.api.aclrtMemset(block, 100, 9, 100))
    for offset, count in ((0, 101), (1, 100), (99, 2), (60, 2**55)):
        for dst, src, name in (
            (block + offset, mine.ctypes.data, "dst"),
            (mine.ctypes.data, block + offset, "src"),
        ):
            assert copy(rt, asynchronous, dst, 2**64 - 1, src, count) == PARAM_INVALID
            expected = f"{name} is {offset} bytes into an allocation of 100 bytes; the {count}"
            assert expected in rt.message()
    assert (mine == before).all()
    assert set(rt.download(block, 100)) == {9}
    assert copy(rt, asynchronous, block + 60, 40, mine.ctypes.data, 40) == 0
    rt.check(rt.api.aclrtFreeHost(block) if is_host else rt.api.aclrtFree(block))


def test_freed_memory(rt: Runtime, asynchronous: bool) -> None:
    """Freed memory of the device is no copy's source or target: 107000, not a crash."""
    for size in (100, 1 << 26):
        block = made(rt.api.aclrtMalloc, size, 0)
        rt.check(rt.api.aclrtFree(block))
        mine = pattern(100)
        for dst, src in ((block, mine.ctypes.data), (mine.ctypes.data, block)):
            assert copy(rt, asynchronous, dst, 100, src, 100) == PARAM_INVALID
            assert "is in memory of the runtime that was freed" in rt.message()
        assert (mine == pattern(100)).all()


@pytest.mark.parametrize("name", ["aclrtMemcpyAsync", "aclrtMemcpy2dAsync", "aclrtMemsetAsync"])
def test_memory_that_is_allocated_again(rt: Runtime, name: str) -> None:
    """What waits in a stream does not touch what a later allocation made of its memory."""
    arguments = {
        "aclrtMemcpyAsync": lambda at, to: (to, 100, at, 100, 3),
        "aclrtMemcpy2dAsync": lambda at, to: (at, 10, to, 10, 10, 10, 3),
        "aclrtMemsetAsync": lambda at, _: (at, 100, 0, 100),
    }[name]
    other, unrelated = rt.upload(pattern(100, 1)), made(rt.api.aclrtMalloc, 100, 0)
    for reuses in (False, True):
        block = made(rt.api.aclrtMalloc, 100, 0)
        with rt.held() as release:
            rt.check(getattr(rt.api, name)(*arguments(block, other), rt.stream))
            rt.check(rt.api.aclrtFree(block if reuses else unrelated))
            again = rt.upload(pattern(100, 2))
            assert again == (block if reuses else unrelated)
            release()
        assert rt.synchronize() == (PARAM_INVALID if reuses else 0)
        if reuses:
            assert "was freed, and allocated again since" in rt.message()
            assert (rt.download(again, 100) == pattern(100, 2)).all()


def test_null(rt: Runtime, asynchronous: bool) -> None:
    """Null with something to copy is 107000; nothing to copy is fine."""
    block = rt.malloc(10)
    assert copy(rt, asynchronous, None, 10, block, 10) == PARAM_INVALID
    assert "dst is null" in rt.message()
    assert copy(rt, asynchronous, block, 10, None, 10) == PARAM_INVALID
    assert "src is null" in rt.message()
    assert copy(rt, asynchronous, None, 0, None, 0) == 0


def test_overlap(rt: Runtime, asynchronous: bool) -> None:
    """Areas that overlap are copied as if through a third."""
    for src, dst in ((0, 10), (10, 0)):
        data = pattern(100)
        block = rt.upload(data)
        assert copy(rt, asynchronous, block + dst, 90, block + src, 90) == 0
        data[dst : dst + 90] = data[src : src + 90].copy()
        assert (rt.download(block, 100) == data).all()


def test_blocking_copy_does_not_wait_for_streams(rt: Runtime) -> None:
    """`aclrtMemcpy` is done when it returns, and waits for no stream."""
    block = rt.malloc(10)
    with rt.held() as release:
        rt.check(rt.api.aclrtMemsetAsync(block, 10, 1, 10, rt.stream))
        rt.check(rt.api.aclrtMemset(block, 10, 2, 10))
        assert set(rt.download(block, 10)) == {2}
        release()
    assert rt.synchronize() == 0
    assert set(rt.download(block, 10)) == {1}


def test_async_is_ordered_in_its_stream(rt: Runtime) -> None:
    """Asynchronous copies and fills run in their stream's order, and not before."""
    a, b = rt.upload(pattern(10, 1)), rt.upload(pattern(10, 2))
    received = np.zeros(10, np.uint8)
    with rt.held() as release:
        rt.check(rt.api.aclrtMemcpyAsync(b, 10, a, 10, 3, rt.stream))
        rt.check(rt.api.aclrtMemsetAsync(a, 10, 5, 10, rt.stream))
        rt.check(rt.api.aclrtMemcpyAsync(received.ctypes.data, 10, a, 10, 2, rt.stream))
        assert not received.any()
        release()
    assert rt.synchronize() == 0
    assert set(received) == {5}
    assert (rt.download(b, 10) == pattern(10, 1)).all()


@pytest.mark.parametrize("value", [0, 255, -1, 256, 0x1234, -(2**31)])
@pytest.mark.parametrize("is_async", [False, True])
def test_memset(rt: Runtime, value: int, is_async: bool) -> None:
    """A fill sets count bytes to the low 8 bits of the value."""
    block = rt.upload(pattern(10))
    rest = (rt.stream,) if is_async else ()
    name = "aclrtMemsetAsync" if is_async else "aclrtMemset"
    rt.check(getattr(rt.api, name)(block, 10, value, 7, *rest))
    assert rt.synchronize() == 0
    expected = np.r_[np.full(7, value % 256), pattern(10)[7:]]
    assert (rt.download(block, 10) == expected).all()


def test_memset_misuse(rt: Runtime) -> None:
    """`count` > maxCount, null, and ranges past the allocation give 107000 and fill nothing."""
    block = rt.upload(pattern(10))
    for arguments in (
        (block, 9, 0, 10),
        (None, 10, 0, 10),
        (block, 11, 0, 11),
        (block + 9, 2, 0, 2),
    ):
        assert rt.api.aclrtMemset(*arguments) == PARAM_INVALID
        assert rt.api.aclrtMemsetAsync(*arguments, rt.stream) == PARAM_INVALID
    assert (rt.download(block, 10) == pattern(10)).all()
    assert rt.api.aclrtMemset(None, 0, 0, 0) == 0


@pytest.mark.parametrize("is_async", [False, True])
def test_copy_2d(rt: Runtime, is_async: bool) -> None:
    """`height` rows of width bytes move; what lies between rows stays."""
    source, target = pattern(7 * 4, 1).reshape(4, 7), pattern(9 * 4, 2).reshape(4, 9)
    src, dst = rt.upload(source), rt.upload(target)
    rest = (rt.stream,) if is_async else ()
    name = "aclrtMemcpy2dAsync" if is_async else "aclrtMemcpy2d"
    rt.check(getattr(rt.api, name)(dst, 9, src, 7, 5, 4, 3, *rest))
    assert rt.synchronize() == 0
    target[:, :5] = source[:, :5]
    assert (rt.download(dst, 36).reshape(4, 9) == target).all()


def test_copy_2d_last_row(rt: Runtime) -> None:
    """The last row needs no more than width bytes, in the source and in the target."""
    source, target = pattern(7 * 3 + 5, 1), pattern(9 * 3 + 5, 2)
    src, dst = rt.upload(source), rt.upload(target)
    rt.check(rt.api.aclrtMemcpy2d(dst, 9, src, 7, 5, 4, 3))
    for row in range(4):
        target[row * 9 : row * 9 + 5] = source[row * 7 : row * 7 + 5]
    assert (rt.download(dst, target.size) == target).all()


def test_copy_2d_misuse(rt: Runtime) -> None:
    """Pitches below the width, null, and areas past an allocation give 107000, nothing copied."""
    data = pattern(32)
    dst, src = rt.upload(data), rt.upload(pattern(32, 1))
    for arguments, why in (
        ((dst, 7, src, 8, 8, 4), "dpitch is 7, below width, which is 8"),
        ((dst, 8, src, 7, 8, 4), "spitch is 7, below width, which is 8"),
        ((dst, 8, src, 8, 8, 5), "dst is 0 bytes into an allocation of 32 bytes; the 40 bytes"),
        ((dst, 8, src, 9, 8, 4), "src is 0 bytes into an allocation of 32 bytes; the 35 bytes"),
        ((dst, 2**63, src, 8, 8, 4), "do not fit memory"),
        ((dst, 8, src, 2**64 - 1, 8, 2), "do not fit memory"),
        ((None, 8, src, 8, 8, 4), "dst is null"),
        ((dst, 8, None, 8, 8, 4), "src is null"),
    ):
        assert rt.api.aclrtMemcpy2d(*arguments, 3) == PARAM_INVALID
        assert why in rt.message()
        assert rt.api.aclrtMemcpy2dAsync(*arguments, 3, rt.stream) == PARAM_INVALID
    assert rt.api.aclrtMemcpy2d(None, 8, None, 8, 8, 0, 3) == 0
    assert rt.api.aclrtMemcpy2d(None, 8, None, 8, 0, 8, 3) == 0
    assert (rt.download(dst, 32) == data).all()


def test_past_the_end_of_memory(rt: Runtime) -> None:
    """Ranges of the program's own memory that no address space holds give 107000, and no crash."""
    mine = (ct.c_char * 10)(*b"0123456789")
    address, block, half = ct.addressof(mine), rt.malloc(10), 2**63 - 1
    for most in (2**64 - 1, half, 2**56):
        assert rt.api.aclrtMemset(address, most, 0, most) == PARAM_INVALID
        assert "from devPtr on reach past the end of memory" in rt.message()
        assert rt.api.aclrtMemsetAsync(address, most, 0, most, rt.stream) == PARAM_INVALID
        assert rt.api.aclrtMemcpy(address, most, block, most, 2) == PARAM_INVALID
        assert "from dst on reach past the end of memory" in rt.message()
    for pitch in (half, half - 1, half // 2):
        for height in (2, 3):
            assert rt.api.aclrtMemcpy2d(address, pitch, address, 1, 1, height, 0) == PARAM_INVALID
            assert rt.api.aclrtMemcpy2d(address, 1, address, pitch, 1, height, 0) == PARAM_INVALID
    assert mine.raw == b"0123456789"


def test_copy_needs_a_device(rt: Runtime) -> None:
    """A thread without a device cannot copy: 107002."""
    block = rt.malloc(10)
    mine = (ct.c_char * 10)()
    address = ct.addressof(mine)
    assert in_thread(lambda: rt.api.aclrtMemcpy(address, 10, block, 10, 2)) == CONTEXT_NULL
