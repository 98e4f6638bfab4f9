# SPDX-License-Identifier: Apache-2.0
"""What virtual memory takes of a process's resources: descriptors, mappings, addresses, pages."""

from __future__ import annotations

import ctypes as ct
import mmap
import os
import resource
from pathlib import Path

import pytest

from tests.support.acl_runtime import Runtime, in_fresh_process, made
from tests.support.capi_symbols import Functions
from tests.support.process import SANITIZED
from tests.support.virtual_memory import GRANULARITY, Range, given


def system_mappings() -> int:
    """How many mappings this process has."""
    return Path("/proc/self/maps").read_text("utf-8").count("\n")


def address_space(field: int = 0) -> int:
    """Bytes of addresses that this process has mapped, or another field of statm."""
    fields = Path("/proc/self/statm").read_text("utf-8").split()
    return int(fields[field]) * mmap.PAGESIZE


def resident(address: int, size: int) -> int:
    """Bytes there that have memory."""
    pages = (ct.c_ubyte * (size // mmap.PAGESIZE))()
    assert ct.CDLL(None).mincore(ct.c_void_p(address), ct.c_size_t(size), pages) == 0
    return sum(page & 1 for page in pages) * mmap.PAGESIZE


def descriptors() -> set[int]:
    """Numbers of what this process has open."""
    return {number for number in range(1024) if is_open(number)}


def is_open(descriptor: int) -> bool:
    """Whether it is."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def use_all(api: Functions, handle: int, base: int) -> None:
    """Each function of virtual memory, with memory that there is and with more."""
    more = made(api.aclrtMallocPhysical, GRANULARITY, given(), 0)
    for memory in (handle, more):
        assert api.aclrtMapMem(base, GRANULARITY, 0, memory, 0) == 0
        assert api.aclrtMemset(base, GRANULARITY, 88, GRANULARITY) == 0
        assert api.aclrtUnmapMem(base) == 0
        assert api.aclrtFreePhysical(memory) == 0


def prepared(api: Functions) -> tuple[int, int]:
    """Physical memory, and addresses for it."""
    assert api.aclrtSetDevice(0) == 0
    return (
        made(api.aclrtMallocPhysical, GRANULARITY, given(), 0),
        made(api.aclrtReserveMemAddress, 4 * GRANULARITY, 0, None, 0),
    )


@in_fresh_process
def test_no_descriptor_is_kept(api: Functions) -> None:
    """Nor needed: a process may have none left."""
    before = descriptors()
    handle, base = prepared(api)
    assert descriptors() == before
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    use_all(api, handle, base)


@in_fresh_process
def test_limit_on_files(api: Functions) -> None:
    """Memory is no file, whatever its size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    use_all(api, *prepared(api))


def test_memory_that_moves_takes_no_more_mappings(rt: Runtime) -> None:
    """Where memory was unmapped, the system keeps none of its own for the place."""
    with Range(rt, 600) as addresses:
        handle = addresses.map(1)
        place, before = 1, system_mappings()
        for unit in [*range(3, 600, 2), *range(596, 0, -2)]:
            addresses.unmap(place)
            addresses.map(unit, handle=handle)
            place = unit
        assert system_mappings() <= before + 2
        addresses.end(place)
        assert system_mappings() <= before
    assert system_mappings() <= before


def move_about(api: Functions) -> None:
    """Map one piece of memory at many places of a long range."""
    size = 8 * GRANULARITY
    assert api.aclrtSetDevice(0) == 0
    handle = made(api.aclrtMallocPhysical, size, given(), 0)
    base = made(api.aclrtReserveMemAddress, 4000 * GRANULARITY, 0, None, 0)
    for unit in range(0, 2000, 10):
        place = base + unit * GRANULARITY
        assert api.aclrtMapMem(place, size, 0, handle, 0) == 0
        assert api.aclrtMemset(place + size - 64, 64, 1, 64) == 0
        assert api.aclrtUnmapMem(place) == 0
    assert api.aclrtFreePhysical(handle) == api.aclrtReleaseMemAddress(base) == 0


@in_fresh_process
def test_limit_on_writable_memory(api: Functions) -> None:
    """Addresses where nothing is mapped need none."""
    data = address_space(field=5) + (64 << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (data, data))
    move_about(api)


@pytest.mark.skipif(os.geteuid() != 0, reason="others may lock little memory")
@pytest.mark.skipif(SANITIZED, reason="a sanitizer ignores the call")
@in_fresh_process
def test_locked_memory(api: Functions) -> None:
    """Where a program has its memory locked, what is not in use takes no memory all the same."""
    future = 2
    assert ct.CDLL(None).mlockall(future) == 0
    before = address_space(field=1)
    move_about(api)
    assert address_space(field=1) < before + (200 << 20)


@pytest.mark.skipif(os.geteuid() != 0, reason="others may lock little memory")
@pytest.mark.skipif(SANITIZED, reason="a sanitizer ignores the call")
@in_fresh_process
def test_memory_locked_in_use(api: Functions) -> None:
    """Only what was allocated gets pages, and nobody finds what freed memory held."""
    current = 1
    handle, base = prepared(api)
    assert api.aclrtReleaseMemAddress(base) == 0  # its pages are the program's wish
    before = address_space(field=1)
    assert ct.CDLL(None).mlockall(current) == 0
    assert address_space(field=1) < before + (200 << 20)
    base = made(api.aclrtReserveMemAddress, 4 * GRANULARITY, 0, None, 0)
    use_all(api, handle, base)
    handle = made(api.aclrtMallocPhysical, GRANULARITY, given(), 0)
    assert api.aclrtMapMem(base, GRANULARITY, 0, handle, 0) == 0
    assert not any(ct.string_at(base, GRANULARITY))


def test_memory_that_touches_is_one_mapping(rt: Runtime) -> None:
    """As long as it was allocated in the order in which it is mapped."""
    with Range(rt, 200) as addresses:
        addresses.map(0)
        before = system_mappings()
        for unit in range(1, 200):
            addresses.map(unit)
        assert system_mappings() <= before + 20


@in_fresh_process
def test_freed_memory_is_used_again(api: Functions) -> None:
    """A program that allocates and frees for ever takes no more addresses."""
    assert api.aclrtSetDevice(0) == 0
    sizes = [GRANULARITY * (1 + i % 7 * 16) for i in range(2000)]
    held = [made(api.aclrtMallocPhysical, size, given(), 0) for size in sizes[:10]]
    before = address_space()
    for size in sizes:
        assert api.aclrtFreePhysical(held.pop(0)) == 0
        held.append(made(api.aclrtMallocPhysical, size, given(), 0))
    assert address_space() < before + (1 << 30)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's own memory comes and goes")
def test_memory_returns_to_the_system(rt: Runtime, addresses: Range) -> None:
    """Memory that was freed has no pages any more; what is unmapped keeps them."""
    size = 4 * GRANULARITY
    for _ in range(3):
        handle = addresses.map(0, 4)
        assert resident(addresses.base, size) == 0
        rt.check(rt.api.aclrtMemset(addresses.base, size, 1, size))
        assert resident(addresses.base, size) == size
        addresses.unmap(0)
        addresses.map(4, 4, handle=handle)
        assert resident(addresses.at(4), size) == size
        addresses.end(4)
