# SPDX-License-Identifier: Apache-2.0
"""How much memory a device has, what takes it, and what happens when there is no more."""

from __future__ import annotations

import ctypes as ct
import random
import threading
from typing import Any

import pytest

from tests.support.acl_runtime import (
    MEMORY_ALLOCATION,
    PARAM_INVALID,
    in_fresh_process,
    in_thread,
    made,
    memory_info,
    message,
    out,
    run_python,
)
from tests.support.capi_symbols import Functions
from tests.support.virtual_memory import GRANULARITY, given

MIB = 1 << 20


def started(api: Functions) -> tuple[int, int]:
    """Sets device 0; its free and all bytes."""
    assert api.aclrtSetDevice(0) == 0
    return memory_info(api)


@in_fresh_process(SOFTNPU_MEMORY_MB="100")
def test_memory_info(api: Functions) -> None:
    """It needs a device; every kind of memory is the same, and all of it is free at first."""
    free, total = ct.c_size_t(), ct.c_size_t()
    assert api.aclrtGetMemInfo(0, ct.byref(free), ct.byref(total)) == 107002
    assert api.aclrtSetDevice(0) == 0
    for kind in range(6):
        assert api.aclrtGetMemInfo(kind, ct.byref(free), ct.byref(total)) == 0
        assert free.value == total.value == 100 * MIB
    for kind in (-1, 6):
        assert api.aclrtGetMemInfo(kind, ct.byref(free), ct.byref(total)) == PARAM_INVALID
    assert api.aclrtGetMemInfo(0, None, ct.byref(total)) == PARAM_INVALID
    assert api.aclrtGetMemInfo(0, ct.byref(free), None) == PARAM_INVALID


@in_fresh_process
def test_addresses(api: Functions) -> None:
    """They are multiples of 512, whatever was allocated before."""
    started(api)
    for size in (1, 64, 65, 512, 513, 5 * MIB + 1) * 2:
        assert made(api.aclrtMalloc, size, 0) % 512 == 0


@in_fresh_process(SOFTNPU_MEMORY_MB="101")
def test_what_takes_memory(api: Functions) -> None:
    """Device and physical memory, rounded to 64 bytes, until it is freed; nothing else."""
    left, total = started(api)
    assert left == total == 101 * MIB
    for allocate in (api.aclrtMalloc, api.aclrtMallocAlign32, api.aclrtMallocCached):
        for size, taken in ((1, 64), (64, 64), (65, 128), (3 * MIB + 1, 3 * MIB + 64)):
            block = made(allocate, size, 0)
            assert memory_info(api) == (total - taken, total)
            assert api.aclrtFree(block) == 0
            assert memory_info(api) == (total, total)
    handle = made(api.aclrtMallocPhysical, GRANULARITY, given(), 0)
    base = made(api.aclrtReserveMemAddress, total, 0, None, 0)
    for change in (
        lambda: api.aclrtMapMem(base, GRANULARITY, 0, handle, 0),
        lambda: api.aclrtMemset(base, GRANULARITY, 1, GRANULARITY),
        lambda: api.aclrtUnmapMem(base),
    ):
        assert change() == 0
        assert memory_info(api) == (total - GRANULARITY, total)
    assert api.aclrtFreePhysical(handle) == api.aclrtReleaseMemAddress(base) == 0
    host = made(api.aclrtMallocHost, 200 * MIB)
    assert memory_info(api) == (total, total)
    assert api.aclrtFreeHost(host) == 0


@in_fresh_process(SOFTNPU_MEMORY_MB="33")
def test_all_of_it_and_no_more(api: Functions) -> None:
    """What is free can be allocated, in one piece or several; more is refused and takes nothing."""
    free, _ = started(api)
    whole = made(api.aclrtMalloc, free, 0)
    assert memory_info(api)[0] == 0
    for size in (1, 2**63, 2**64 - 1):
        assert out(ct.c_void_p, api.aclrtMalloc, size, 0, first=True) == (MEMORY_ALLOCATION, None)
        assert message(api) == (
            f"aclrtMalloc: size is {size}, but only 0 of the {free} bytes of device 0 are free; "
            "SOFTNPU_MEMORY_MB sets how much memory a device has"
        )
    handle = out(ct.c_void_p, api.aclrtMallocPhysical, GRANULARITY, given(), 0, first=True)
    assert handle == (MEMORY_ALLOCATION, None)
    assert "of device 0 are free" in message(api)
    assert api.aclrtFree(whole) == 0
    half = [made(api.aclrtMalloc, free // 2, 0) for _ in range(2)]
    assert out(ct.c_void_p, api.aclrtMalloc, 1, 0, first=True)[0] == MEMORY_ALLOCATION
    assert [api.aclrtFree(each) for each in half] == [0, 0]
    assert memory_info(api)[0] == free


@in_fresh_process(SOFTNPU_MEMORY_MB="64", SOFTNPU_DEVICES="3")
def test_each_device_has_its_own(api: Functions) -> None:
    """Memory is the current device's, or that of its properties, whichever thread frees it."""

    def free_of_all() -> list[int]:
        found = []
        for device in range(3):
            assert api.aclrtSetDevice(device) == 0
            found.append(memory_info(api)[0] // MIB)
        return found

    assert api.aclrtSetDevice(1) == 0
    block = made(api.aclrtMalloc, 64 * MIB, 0)
    handle = made(api.aclrtMallocPhysical, 10 * MIB, given(id=2), 0)
    assert free_of_all() == [64, 0, 54]
    assert out(
        ct.c_void_p,
        api.aclrtMallocPhysical,
        55 * MIB // GRANULARITY * GRANULARITY + GRANULARITY,
        given(id=2),
        0,
        first=True,
    ) == (MEMORY_ALLOCATION, None)
    assert "bytes of device 2 are free" in message(api)
    assert [api.aclrtResetDevice(device) for device in range(3)] == [0, 0, 0]
    assert free_of_all() == [64, 0, 54]
    assert in_thread(lambda: api.aclrtFree(block)) == 0
    assert in_thread(lambda: api.aclrtFreePhysical(handle)) == 0
    assert free_of_all() == [64, 64, 64]


@in_fresh_process(SOFTNPU_MEMORY_MB=str(1 << 28))
def test_more_than_the_machine_has(api: Functions) -> None:
    """With a size that was set, memory is promised; what no system can give is refused cleanly."""
    free, _ = started(api)
    assert free == 1 << 48
    block = made(api.aclrtMalloc, 1 << 42, 0)
    assert api.aclrtMemset(block + (1 << 41), 64, 7, 64) == 0
    assert out(ct.c_void_p, api.aclrtMalloc, 3 << 46, 0, first=True) == (MEMORY_ALLOCATION, None)
    assert "the system has no such memory left" in message(api)
    assert memory_info(api)[0] == free - (1 << 42)
    assert api.aclrtFree(block) == 0
    size = 3 << 46
    assert out(ct.c_void_p, api.aclrtMallocPhysical, size, given(), 0, first=True)[1] is None
    assert memory_info(api)[0] == free


def test_the_default_does_not_promise_more_than_the_machine_has() -> None:
    """However many devices there are: else the system would kill the process."""
    program = (
        "import ctypes as ct\n"
        "from tests.support.acl_runtime import made, memory_info, message, out\n"
        "from tests.support.capi_symbols import functions\n"
        "api = functions()\n"
        "assert api.aclrtSetDevice(0) == 0\n"
        "free, total = memory_info(api)\n"
        "first = made(api.aclrtMalloc, total, 0)\n"
        "for device in range(1, 100):\n"
        "    assert api.aclrtSetDevice(device) == 0\n"
        "    assert memory_info(api) == (total, total)\n"
        "    status, block = out(ct.c_void_p, api.aclrtMalloc, total, 0, first=True)\n"
        "    if status != 0: break\n"
        "assert (status, block) == (207001, None), device\n"
        "print(message(api))\n"
        "assert memory_info(api) == (total, total)\n"
    )
    done = run_python(program, SOFTNPU_DEVICES="100")
    assert done.returncode == 0, done.stderr
    assert "bytes are left for the host and all devices; it does not limit" in done.stdout


@in_fresh_process(SOFTNPU_MEMORY_MB="32", SOFTNPU_DEVICES="2")
def test_threads_at_the_limit(api: Functions) -> None:
    """They get no more than there is at any time, and all of it comes back."""
    most: list[int] = []
    guard, held = threading.Lock(), [0]

    def take(allocate: Any, release: Any, size: int) -> None:
        status, block = out(
            ct.c_void_p,
            allocate,
            size,
            *((given(id=1), 0) if release is api.aclrtFreePhysical else (0,)),
            first=True,
        )
        if status != 0:
            assert (status, block) == (MEMORY_ALLOCATION, None)
            return
        with guard:
            held[0] += size
            most.append(held[0])
        free, total = memory_info(api)
        assert free <= total
        with guard:
            held[0] -= size
        assert release(block) == 0

    def work(seed: int) -> bool:
        assert api.aclrtSetDevice(1) == 0
        chooser = random.Random(seed)
        for _ in range(1500):
            if chooser.random() < 0.5:
                take(api.aclrtMalloc, api.aclrtFree, 64 * chooser.randint(1, 100_000))
            else:
                size = GRANULARITY * chooser.randint(1, 6)
                take(api.aclrtMallocPhysical, api.aclrtFreePhysical, size)
        return True

    done: list[bool] = []
    threads = [threading.Thread(target=lambda n=n: done.append(work(n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [True] * 8
    assert max(most) <= 32 * MIB
    for device in range(2):
        assert api.aclrtSetDevice(device) == 0
        assert memory_info(api) == (32 * MIB, 32 * MIB)


@pytest.mark.parametrize("setting", ["0", "-1", "1e3", "many", str(2**64)])
def test_a_wrong_size(setting: str) -> None:
    """It is said on stderr, and the default is used."""
    program = "from softnpu import _core\nprint(_core.info()['device_memory'])\n"
    done = run_python(program, SOFTNPU_MEMORY_MB=setting)
    assert done.stdout == run_python(program).stdout
    assert f'SOFTNPU_MEMORY_MB is "{setting}", an invalid value' in done.stderr
