# SPDX-License-Identifier: Apache-2.0
"""Virtual memory: reserved addresses, physical memory, and what may be done where it is mapped."""

from __future__ import annotations

import ctypes as ct
import os
from typing import Any

import numpy as np
import pytest

from softnpu import reference
from tests.support.acl_runtime import (
    MEMORY_ALLOCATION,
    PARAM_INVALID,
    Runtime,
    in_thread,
    made,
    memory_info,
    out,
)
from tests.support.virtual_memory import GRANULARITY, Range, free_bytes, given, prop, room


def pattern(size: int, seed: int = 0) -> Any:
    """Bytes that tell a wrong copy."""
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def test_granularity(rt: Runtime) -> None:
    """It is the same for both options."""
    for option in (0, 1):
        got = out(ct.c_size_t, rt.api.aclrtMemGetAllocationGranularity, ct.byref(prop()), option)
        assert got == (0, GRANULARITY)


@pytest.mark.parametrize("alignment", [0, 1, 64, GRANULARITY, 1 << 30])
@pytest.mark.parametrize("flags", [0, 1])
def test_alignment(rt: Runtime, alignment: int, flags: int) -> None:
    """Reserved addresses are aligned to the granularity, or to more if that is asked for."""
    base = made(rt.api.aclrtReserveMemAddress, 3 * GRANULARITY, alignment, None, flags)
    assert base % max(alignment, GRANULARITY) == 0
    assert rt.api.aclrtReleaseMemAddress(base) == 0


@pytest.mark.parametrize("size", [1, 4096, GRANULARITY - 1, GRANULARITY + 1])
def test_a_range_of_any_size(rt: Runtime, size: int) -> None:
    """It is rounded up: memory can be mapped for all of it, and no further."""
    base = made(rt.api.aclrtReserveMemAddress, size, 0, None, 1)
    whole = -(-size // GRANULARITY) * GRANULARITY
    handle = made(rt.api.aclrtMallocPhysical, whole + GRANULARITY, ct.byref(prop()), 0)
    assert rt.api.aclrtMapMem(base, whole + GRANULARITY, 0, handle, 0) == PARAM_INVALID
    rt.check(rt.api.aclrtMapMem(base, whole, 0, handle, 0))
    rt.check(rt.api.aclrtMemset(base, whole, 5, whole))
    rt.check(rt.api.aclrtUnmapMem(base))
    rt.check(rt.api.aclrtFreePhysical(handle))
    rt.check(rt.api.aclrtReleaseMemAddress(base))


def test_more_addresses_than_memory(rt: Runtime) -> None:
    """A range may be larger than the machine's memory."""
    size = 2 * memory_info(rt.api)[1] // GRANULARITY * GRANULARITY
    base = made(rt.api.aclrtReserveMemAddress, size, 0, None, 0)
    handle = made(rt.api.aclrtMallocPhysical, GRANULARITY, ct.byref(prop()), 0)
    last = base + size - GRANULARITY
    rt.check(rt.api.aclrtMapMem(last, GRANULARITY, 0, handle, 0))
    rt.check(rt.api.aclrtMemset(last, GRANULARITY, 5, GRANULARITY))
    rt.check(rt.api.aclrtUnmapMem(last))
    rt.check(rt.api.aclrtFreePhysical(handle))
    rt.check(rt.api.aclrtReleaseMemAddress(base))


def test_contents_stay_with_the_physical_memory(rt: Runtime, addresses: Range) -> None:
    """What is mapped elsewhere has its contents there; new memory reads as something else."""
    data = pattern(GRANULARITY)
    handle = addresses.map(0)
    rt.upload(data, addresses.at(0))
    addresses.unmap(0)
    addresses.map(5, handle=handle)
    addresses.map(0)
    rt.check(rt.api.aclrtMemset(addresses.at(0), GRANULARITY, 0, GRANULARITY))
    assert (rt.download(addresses.at(5), GRANULARITY) == data).all()


def test_a_part_of_physical_memory(rt: Runtime, addresses: Range) -> None:
    """An offset selects which part is mapped."""
    handle = addresses.map(0, 3)
    data = pattern(3 * GRANULARITY)
    rt.upload(data, addresses.at(0))
    addresses.unmap(0)
    rt.check(rt.api.aclrtMapMem(addresses.at(1), GRANULARITY, 2 * GRANULARITY, handle, 0))
    addresses.mapped[addresses.at(1)] = handle
    assert (rt.download(addresses.at(1), GRANULARITY) == data[2 * GRANULARITY :]).all()
    assert rt.api.aclrtMemset(addresses.at(2), 1, 0, 1) == PARAM_INVALID


def test_an_operator_across_two_mappings(rt: Runtime, addresses: Range) -> None:
    """An operand may span mappings that touch, but nothing else of the range."""
    addresses.map(1)
    addresses.map(2)
    count = GRANULARITY // 4
    values = np.linspace(-2, 2, count, dtype=np.float32)
    there = rt.upload(values, addresses.at(2) - values.nbytes // 2)
    tensor = rt.tensor("FLOAT", (count,), there)
    rt.run("aclnnInplaceSelu", tensor)
    done = rt.download(there, values.nbytes).view(np.float32)
    np.testing.assert_allclose(done, reference.selu(values), rtol=1e-6)
    for first, why in (
        (addresses.at(2) + 4, f"{addresses.at(3):#x} to {addresses.at(8):#x}"),
        (addresses.at(3), f"{addresses.at(3):#x} to {addresses.at(8):#x}"),
        (addresses.at(0), f"{addresses.at(0):#x} to {addresses.at(1):#x}"),
    ):
        wrong = rt.phase_one("aclnnInplaceSelu", rt.tensor("FLOAT", (count,), first))
        assert wrong.status == 161002
        assert f"no memory is mapped at {why} (aclrtMapMem)" in wrong.message
    addresses.end(1)
    assert rt.phase_one("aclnnInplaceSelu", tensor).status == 161002


@pytest.mark.parametrize("unit", [0, 1])
def test_memory_unmapped_since_phase_one(rt: Runtime, addresses: Range, unit: int) -> None:
    """Phase two is refused if any part of an operand was unmapped, and no other."""
    addresses.map(0)
    addresses.map(1)
    addresses.map(2)
    rt.check(rt.api.aclrtMemset(addresses.base, 3 * GRANULARITY, 0, 3 * GRANULARITY))
    tensor = rt.tensor("FLOAT", (GRANULARITY // 2,), addresses.base)
    planned = rt.plan("aclnnInplaceSelu", tensor)
    addresses.end(2)
    assert rt.launch("aclnnInplaceSelu", planned) == 0
    planned = rt.plan("aclnnInplaceSelu", tensor)
    addresses.end(unit)
    assert rt.launch("aclnnInplaceSelu", planned) == 161002
    assert "memory that was freed since phase one" in rt.message()
    addresses.map(unit)
    assert rt.launch("aclnnInplaceSelu", planned) == 161002
    assert rt.synchronize() == 0


@pytest.mark.parametrize("again", [False, True])
def test_memory_unmapped_while_work_waits(rt: Runtime, addresses: Range, again: bool) -> None:
    """Work that waits in a stream fails as after aclrtFree, also with new memory there."""
    addresses.map(0)
    addresses.map(1)
    rt.check(rt.api.aclrtMemset(addresses.base, 2 * GRANULARITY, 1, 2 * GRANULARITY))
    target = rt.malloc(2 * GRANULARITY)
    with rt.held() as release:
        rt.check(
            rt.api.aclrtMemcpyAsync(
                target, 2 * GRANULARITY, addresses.base, 2 * GRANULARITY, 3, rt.stream
            )
        )
        addresses.end(1)
        if again:
            addresses.map(1)
        release()
    assert rt.synchronize() == PARAM_INVALID
    assert ("allocated again since" if again else "no memory is mapped at") in rt.message()


def test_work_that_waits_and_whose_neighbour_is_unmapped(rt: Runtime, addresses: Range) -> None:
    """What it does not touch does not matter."""
    addresses.map(0)
    addresses.map(1)
    with rt.held() as release:
        rt.check(rt.api.aclrtMemsetAsync(addresses.base, GRANULARITY, 3, GRANULARITY, rt.stream))
        addresses.end(1)
        release()
    assert rt.synchronize() == 0
    assert set(rt.download(addresses.base, GRANULARITY)) == {3}


def test_out_of_memory(rt: Runtime) -> None:
    """More than the device has gives 207001 and no handle, and nothing is lost."""
    left, total = memory_info(rt.api)
    too_much = (total // GRANULARITY + 1) * GRANULARITY
    for size in (too_much, 2**63, 2**64 - GRANULARITY):
        handle = ct.c_void_p(1)
        status = rt.api.aclrtMallocPhysical(ct.byref(handle), size, ct.byref(prop()), 0)
        assert (status, handle.value) == (MEMORY_ALLOCATION, None)
        assert f"size is {size}" in rt.message()
    for size in (1 << 47, 2**63, 2**64 - GRANULARITY, 2**64 - 1):
        base = ct.c_void_p(1)
        status = rt.api.aclrtReserveMemAddress(ct.byref(base), size, 0, None, 0)
        assert (status, base.value) == (MEMORY_ALLOCATION, None)
    assert free_bytes(rt) == left


def test_a_released_range_is_freed_memory(rt: Runtime) -> None:
    """Its addresses are the runtime's for ever, so copies there are refused."""
    base = made(rt.api.aclrtReserveMemAddress, GRANULARITY, 0, None, 0)
    rt.check(rt.api.aclrtReleaseMemAddress(base))
    assert rt.api.aclrtReleaseMemAddress(base) == PARAM_INVALID
    assert rt.api.aclrtMemset(base, 1, 0, 1) == PARAM_INVALID
    assert "in memory of the runtime that was freed" in rt.message()
    again = made(rt.api.aclrtReserveMemAddress, GRANULARITY, 0, None, 0)
    assert again == base
    rt.check(rt.api.aclrtReleaseMemAddress(again))


def test_threads_and_devices(rt: Runtime, addresses: Range) -> None:
    """A thread without a device takes no memory, but returns what there is."""
    handle = addresses.map(0)

    def without() -> list[int]:
        return [
            rt.api.aclrtReserveMemAddress(room(), GRANULARITY, 0, None, 0),
            rt.api.aclrtMallocPhysical(room(), GRANULARITY, given(), 0),
            rt.api.aclrtMapMem(addresses.at(1), GRANULARITY, 0, handle, 0),
            rt.api.aclrtUnmapMem(addresses.base),
            rt.api.aclrtFreePhysical(handle),
        ]

    addresses.mapped.clear()
    assert in_thread(without) == [107002, 107002, 107002, 0, 0]


def test_a_forked_child_leaves_the_memory_alone(rt: Runtime, addresses: Range) -> None:
    """It has no memory there, and can map some of its own; the parent's keeps its contents."""
    data = pattern(GRANULARITY)
    handle = addresses.map(0)
    rt.upload(data, addresses.base)
    child = os.fork()
    if child == 0:
        mine = ct.c_void_p()
        codes = [
            rt.api.aclrtMemset(addresses.base, 1, 0, 1),
            rt.api.aclrtUnmapMem(addresses.base),
            rt.api.aclrtMapMem(addresses.base, GRANULARITY, 0, handle, 0),
            rt.api.aclrtFreePhysical(handle),
            rt.api.aclrtMallocPhysical(ct.byref(mine), GRANULARITY, given(), 0),
            rt.api.aclrtMapMem(addresses.base, GRANULARITY, 0, mine, 0),
            rt.api.aclrtMemset(addresses.base, GRANULARITY, 3, GRANULARITY),
        ]
        os._exit(0 if codes == [PARAM_INVALID] * 3 + [0] * 4 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (rt.download(addresses.base, GRANULARITY) == data).all()
