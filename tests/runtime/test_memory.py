# SPDX-License-Identifier: Apache-2.0
"""Memory: allocation, release, and what the machine has."""

import ctypes as ct
import mmap
import random
import threading

import numpy as np
import pytest

from tests.support.acl_runtime import (
    MEMORY_ALLOCATION,
    PARAM_INVALID,
    Runtime,
    in_fresh_process,
    in_thread,
    made,
    message,
    out,
    run_python,
)
from tests.support.capi_symbols import Functions, library_folder
from tests.support.process import SANITIZED

DEVICE = ["aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached"]
MIB = 1 << 20


def allocate(rt: Runtime, function: str, size: int, policy: int = 0) -> tuple[int, int | None]:
    """Status and address of an allocation; the pointer starts as no null."""
    pointer = ct.c_void_p(0xDEAD)
    rest = () if function == "aclrtMallocHost" else (policy,)
    status = getattr(rt.api, function)(ct.byref(pointer), size, *rest)
    return int(status), pointer.value


@pytest.mark.parametrize("function", [*DEVICE, "aclrtMallocHost"])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 4095, 100_000, 4 * MIB, 40 * MIB + 1])
def test_alignment(rt: Runtime, function: str, size: int) -> None:
    """Memory is 64-byte aligned, 2 MiB from 4 MiB on, and every byte of it can be used."""
    status, address = allocate(rt, function, size)
    assert status == 0
    assert address is not None
    assert address % (2 * MIB if size >= 4 * MIB else 64) == 0
    ct.memset(address, 0xA5, size)
    assert ct.string_at(address, 1) == ct.string_at(address + size - 1, 1) == b"\xa5"
    free = rt.api.aclrtFreeHost if function == "aclrtMallocHost" else rt.api.aclrtFree
    assert free(address) == 0


def test_policies(rt: Runtime) -> None:
    """Every documented policy is accepted, any other number is 107000."""
    for policy in range(6):
        status, address = allocate(rt, "aclrtMalloc", 10, policy)
        assert status == 0
        assert rt.api.aclrtFree(address) == 0
    for policy in (-1, 6):
        assert allocate(rt, "aclrtMalloc", 10, policy) == (PARAM_INVALID, None)


@pytest.mark.parametrize("function", [*DEVICE, "aclrtMallocHost"])
def test_size_zero(rt: Runtime, function: str) -> None:
    """Size 0 is an error (107000)."""
    assert allocate(rt, function, 0) == (PARAM_INVALID, None)
    assert rt.message() == f"{function}: size is 0; it must be above 0"


@pytest.mark.parametrize("function", [*DEVICE, "aclrtMallocHost"])
@pytest.mark.parametrize("size", [1 << 50, 2**63, 2**64 - 1, 2**64 - 64])
def test_out_of_memory(rt: Runtime, function: str, size: int) -> None:
    """More memory than there is gives 207001 with a null pointer."""
    assert allocate(rt, function, size) == (MEMORY_ALLOCATION, None)
    assert f"size is {size}" in rt.message()


def test_null_pointer_argument(rt: Runtime) -> None:
    """A null out-parameter is 107000."""
    assert rt.api.aclrtMalloc(None, 10, 0) == PARAM_INVALID
    assert "devPtr is null" in rt.message()
    assert rt.api.aclrtMallocHost(None, 10) == PARAM_INVALID
    assert "hostPtr is null" in rt.message()


def test_free_misuse(rt: Runtime) -> None:
    """Freeing null, what was never allocated, an interior pointer, or twice: 107000, no crash."""
    block, host = rt.malloc(1000), made(rt.api.aclrtMallocHost, 1000)
    own = (ct.c_char * 100)()
    for free in (rt.api.aclrtFree, rt.api.aclrtFreeWithDevSync):
        for address, why in (
            (None, "null"),
            (ct.addressof(own), "never allocated"),
            (1, "never allocated"),
            (2**64 - 1, "never allocated"),
            (block + 1, "1 bytes into an allocation"),
            (block + 999, "999 bytes into an allocation"),
            (block + 1000, "freed already"),
            (host, "host memory (aclrtMallocHost)"),
        ):
            assert free(address) == PARAM_INVALID
            assert why in rt.message()
    assert rt.api.aclrtFreeHost(block) == PARAM_INVALID
    assert "device memory (aclrtMalloc)" in rt.message()
    assert rt.api.aclrtFreeHost(host) == 0
    assert rt.api.aclrtFreeHost(host) == PARAM_INVALID
    assert rt.api.aclrtFree(block) == 0
    assert rt.api.aclrtFree(block) == PARAM_INVALID
    assert "freed already" in rt.message()


def test_free_with_device_synchronisation(rt: Runtime) -> None:
    """`aclrtFreeWithDevSync` finishes the device's work before it frees."""
    source, target = made(rt.api.aclrtMalloc, 64, 0), rt.malloc(64)
    rt.check(rt.api.aclrtMemset(source, 64, 3, 64))
    with rt.held() as release:
        rt.check(rt.api.aclrtMemcpyAsync(target, 64, source, 64, 3, rt.stream))
        timer = threading.Timer(0.05, release)
        timer.start()
        assert rt.api.aclrtFreeWithDevSync(source) == 0
        timer.join()
    assert set(rt.download(target, 64)) == {3}


def test_free_with_device_synchronisation_in_vain(rt: Runtime) -> None:
    """Where that wait would never end, nothing is freed; threads without a device do not wait."""
    block = made(rt.api.aclrtMalloc, 64, 0)
    codes: list[int] = []
    rt.launch_host(lambda: codes.append(rt.api.aclrtFreeWithDevSync(block)))
    assert rt.synchronize() == 0
    assert codes == [PARAM_INVALID]
    assert in_thread(lambda: rt.api.aclrtFreeWithDevSync(block)) == 0


def test_blocks_are_apart(rt: Runtime) -> None:
    """Live allocations never overlap, in whatever order they come and go."""
    chooser = random.Random(1)
    live: dict[int, int] = {}
    for step in range(3000):
        if live and chooser.random() < 0.45:
            address = chooser.choice(list(live))
            assert ct.string_at(address, 1) == bytes([live.pop(address) % 251])
            assert rt.api.aclrtFree(address) == 0
            continue
        size = chooser.choice([1, 64, 100, 4096, 70_000, 5 * MIB, 33 * MIB])
        status, block = allocate(rt, "aclrtMalloc", size)
        assert status == 0
        assert block is not None
        for end in (block, block + size - 1):
            ct.memset(end, step % 251, 1)
        live[block] = step
    for address, step in live.items():
        assert ct.string_at(address, 1) == bytes([step % 251])
        assert rt.api.aclrtFree(address) == 0


def test_blocks_never_touch(rt: Runtime) -> None:
    """The address behind an allocation is never the next one's: freeing it is 107000."""
    blocks = [made(rt.api.aclrtMalloc, 64, 0) for _ in range(50)]
    assert {rt.api.aclrtFree(block + 64) for block in blocks} == {PARAM_INVALID}
    assert {rt.api.aclrtFree(block) for block in blocks} == {0}


def test_freed_memory_is_used_again(rt: Runtime) -> None:
    """A program that allocates and frees for ever does not grow."""
    seen = set()
    for _ in range(200):
        status, address = allocate(rt, "aclrtMalloc", 100 * MIB)
        assert status == 0
        seen.add(address)
        assert rt.api.aclrtFree(address) == 0
    assert len(seen) <= 3


@in_fresh_process
def test_host_memory_needs_no_device(api: Functions) -> None:
    """Host memory is had without a device; device memory is not."""
    address = made(api.aclrtMallocHost, 100)
    assert api.aclrtFreeHost(address) == 0
    assert out(ct.c_void_p, api.aclrtMalloc, 100, 0, first=True) == (107002, None)


@in_fresh_process
def test_addresses_that_are_nowhere(api: Functions) -> None:
    """Host memory that the process does not have, or may not write to, is 107000, and no crash."""
    assert api.aclrtSetDevice(0) == 0
    block, stream = made(api.aclrtMalloc, 64, 0), made(api.aclrtCreateStream)
    page = mmap.PAGESIZE
    read_only = mmap.mmap(-1, page, prot=mmap.PROT_READ)
    there = np.frombuffer(read_only, np.uint8).ctypes.data
    for nowhere in (0x10, (1 << 47) - 4096):
        calls = {
            "src": [
                api.aclrtMemcpy(block, 64, nowhere, 64, 1),
                api.aclrtMemcpyAsync(block, 64, nowhere, 64, 1, stream),
                api.aclrtMemcpy2d(block, 8, nowhere, 8, 8, 8, 1),
            ],
            "dst": [
                api.aclrtMemcpy(nowhere, 64, block, 64, 2),
                api.aclrtMemcpyAsync(nowhere, 64, block, 64, 2, stream),
                api.aclrtMemcpy2d(nowhere, 8, block, 8, 8, 8, 2),
                api.aclrtMemset(nowhere, 64, 0, 64),
                api.aclrtMemsetAsync(nowhere, 64, 0, 64, stream),
            ],
        }
        for argument, codes in calls.items():
            assert codes == [PARAM_INVALID] * len(codes), argument
    assert api.aclrtMemcpy(there, 64, block, 64, 2) == PARAM_INVALID
    said = message(api)
    assert said is not None
    assert "cannot be written" in said
    assert api.aclrtMemset(there, 64, 0, 64) == PARAM_INVALID
    assert api.aclrtMemcpy(block, 64, there, 64, 1) == 0
    end = there + page  # in most cases another mapping follows; the far end of memory does not
    assert api.aclrtMemcpy(block, 64, end - 64, 64, 1) == 0
    assert api.aclrtSynchronizeDevice() == 0


@pytest.mark.skipif(SANITIZED, reason="a sanitizer takes all addresses")
@pytest.mark.parametrize("kilobytes", [70_000, 75_000, 80_000, 85_000, 90_000, 120_000, 160_000])
def test_limits_on_address_space(kilobytes: int) -> None:
    """Whatever the limit, device memory leaves the program as much as it takes in advance."""
    program = (
        "import ctypes as ct, resource, sys\n"
        f"lib = ct.CDLL({str(library_folder().resolve() / 'libascendcl.so')!r})\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        f"limit = used + ({kilobytes} << 10)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "assert lib.aclrtSetDevice(0) == 0\n"
        "block = ct.c_void_p()\n"
        "assert lib.aclrtMalloc(ct.byref(block), ct.c_size_t(1 << 20), 0) == 0\n"
        "held = [bytearray(1 << 20) for _ in range(24)]\n"
        "assert lib.aclrtMalloc(ct.byref(block), ct.c_size_t(1 << 20), 0) == 0\n"
    )
    done = run_python(program)
    assert done.returncode == 0, done.stderr
