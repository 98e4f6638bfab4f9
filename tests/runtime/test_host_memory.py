# SPDX-License-Identifier: Apache-2.0
"""Memory of the host that operators use, where addresses are, and peers."""

from __future__ import annotations

import ctypes as ct

import numpy as np
import pytest

from tests.support.acl_runtime import (
    CONTEXT_NULL,
    INVALID_DEVICEID,
    PARAM_INVALID,
    Runtime,
    in_fresh_process,
    in_thread,
    message,
    out,
)
from tests.support.capi_symbols import Functions

MAPPED, PINNED = 0x2, 0x10000000
HOST, DEVICE, UNREGISTERED = 0, 1, 2


class Attributes(ct.Structure):
    """aclrtPtrAttributes."""

    _fields_ = [
        ("id", ct.c_uint32),
        ("type", ct.c_int),
        ("page", ct.c_uint32),
        ("rsv", ct.c_uint32 * 4),
    ]


def place(rt: Runtime, address: int) -> tuple[int, int]:
    """The type and the device of an address."""
    found = Attributes()
    rt.check(rt.api.aclrtPointerGetAttributes(address, ct.byref(found)))
    assert found.page > 0
    return found.type, found.id


def register(rt: Runtime, array: np.ndarray) -> int:
    """The address at which operators use the array."""
    arguments = (array.ctypes.data, array.nbytes, 0)
    status, address = out(ct.c_void_p, rt.api.aclrtHostRegister, *arguments)
    rt.check(status)
    return int(address)


def test_an_operator_uses_registered_memory(rt: Runtime) -> None:
    """It reads and writes the host's memory, until it is unregistered."""
    given, result = np.full(8, 2, np.float32), np.zeros(8, np.float32)
    tensors = []
    for array in (given, result):
        address = register(rt, array)
        assert address == array.ctypes.data
        sizes = (ct.c_int64 * 1)(8)
        tensor = rt.api.aclCreateTensor(sizes, 1, 0, None, 0, 2, sizes, 1, address)
        rt.keep("aclDestroyTensor", tensor)
        tensors.append(tensor)
    planned = rt.plan("aclnnSelu", *tensors)
    rt.check(rt.launch("aclnnSelu", planned))
    assert rt.synchronize() == 0
    assert result == pytest.approx(2 * 1.0507009)
    for array in (given, result):
        rt.check(rt.api.aclrtHostUnregister(array.ctypes.data))
    size, executor = ct.c_uint64(), ct.c_void_p()
    status = rt.api.aclnnSeluGetWorkspaceSize(*tensors, ct.byref(size), ct.byref(executor))
    assert status == 161002
    assert "self has its data at an address that is not device memory" in rt.message()


def test_registered_memory_is_both(rt: Runtime) -> None:
    """The second form has flags; the device's address is asked for, inside too."""
    array = np.zeros(64, np.uint8)
    start = array.ctypes.data
    rt.check(rt.api.aclrtHostRegisterV2(start, 64, MAPPED | PINNED))
    assert out(ct.c_void_p, lambda p: rt.api.aclrtHostGetDevicePointer(start, p, 0)) == (0, start)
    assert place(rt, start + 63) == (HOST, 0)
    assert place(rt, start + 64) == (UNREGISTERED, 0)
    rt.check(rt.api.aclrtHostUnregister(start))
    assert place(rt, start) == (UNREGISTERED, 0)


def test_places(rt: Runtime) -> None:
    """Memory of a device, page-locked memory, and any other."""
    block = rt.malloc(100)
    status, locked = out(ct.c_void_p, lambda p: rt.api.aclrtMallocHost(p, 64))
    rt.check(status)
    assert place(rt, block + 99) == (DEVICE, 0)
    assert place(rt, locked) == (HOST, 0)
    assert place(rt, np.zeros(1).ctypes.data) == (UNREGISTERED, 0)
    rt.check(rt.api.aclrtHostRegisterV2(locked, 64, MAPPED))
    rt.check(rt.api.aclrtFreeHost(locked))
    assert place(rt, locked) == (UNREGISTERED, 0)
    assert rt.api.aclrtHostUnregister(locked) == PARAM_INVALID
    assert rt.api.aclrtPointerGetAttributes(None, ct.byref(Attributes())) == PARAM_INVALID
    assert rt.api.aclrtPointerGetAttributes(block, None) == PARAM_INVALID
    assert "attributes is null" in rt.message()


def test_misuse(rt: Runtime) -> None:
    """Each wrong argument gives 107000 and is named."""
    array = np.zeros(64, np.uint8)
    start = array.ctypes.data
    for address, size, flag, why in (
        (None, 64, 0, "ptr is null"),
        (start, 0, 0, "size is 0"),
        (start, 64, 1, "flag is 1"),
        (rt.malloc(64), 64, 0, "are device memory, or registered already"),
    ):
        assert rt.api.aclrtHostRegisterV2(address, size, flag) == PARAM_INVALID
        assert why in rt.message()
    assert out(ct.c_void_p, rt.api.aclrtHostRegister, start, 64, 7) == (PARAM_INVALID, None)
    assert rt.api.aclrtHostRegister(start, 64, 0, None) == PARAM_INVALID
    rt.check(rt.api.aclrtHostRegisterV2(start + 16, 16, 0))
    for address in (start, start + 16, start + 31):
        assert rt.api.aclrtHostRegisterV2(address, 32, 0) == PARAM_INVALID
        assert "registered already" in rt.message()
    for address in (start, start + 17, None):
        assert rt.api.aclrtHostUnregister(address) == PARAM_INVALID
    pointer = ct.c_void_p(7)
    assert rt.api.aclrtHostGetDevicePointer(start, ct.byref(pointer), 0) == PARAM_INVALID
    assert pointer.value is None
    assert rt.api.aclrtHostGetDevicePointer(start + 16, ct.byref(pointer), 1) == PARAM_INVALID
    assert rt.api.aclrtHostGetDevicePointer(start + 16, None, 0) == PARAM_INVALID
    rt.check(rt.api.aclrtHostUnregister(start + 16))
    assert in_thread(lambda: rt.api.aclrtHostRegisterV2(start, 64, 0)) == CONTEXT_NULL


def test_work_that_waits_is_checked_again(rt: Runtime) -> None:
    """An operator whose memory was unregistered meanwhile does not run."""
    given, result = np.full(8, 2, np.float32), np.zeros(8, np.float32)
    sizes = (ct.c_int64 * 1)(8)
    tensors = []
    for array in (given, result):
        address = register(rt, array)
        tensors.append(rt.api.aclCreateTensor(sizes, 1, 0, None, 0, 2, sizes, 1, address))
        rt.keep("aclDestroyTensor", tensors[-1])
    planned = rt.plan("aclnnSelu", *tensors)
    with rt.held() as release:
        rt.check(rt.launch("aclnnSelu", planned))
        for array in (given, result):
            rt.check(rt.api.aclrtHostUnregister(array.ctypes.data))
        release()
    assert rt.synchronize() == 361001
    assert not result.any()


def test_cache_operations_are_accepted(rt: Runtime) -> None:
    """They have no effect, but their arguments are checked."""
    block = rt.malloc(64)
    for kind in range(4):
        rt.check(rt.api.aclrtCmoAsync(block, 64, kind, rt.stream))
    for arguments, why in (
        ((None, 64, 0, rt.stream), "src is null"),
        ((block, 0, 0, rt.stream), "size is 0"),
        ((block, 65, 0, rt.stream), "reach past its end"),
        ((block, 64, 4, rt.stream), "cmoType is 4"),
    ):
        assert rt.api.aclrtCmoAsync(*arguments) == PARAM_INVALID
        assert why in rt.message()


@in_fresh_process(SOFTNPU_DEVICES="2")
def test_peers(api: Functions) -> None:
    """Two devices reach each other; one does not name itself."""
    assert out(ct.c_int32, lambda p: api.aclrtDeviceCanAccessPeer(p, 0, 1)) == (0, 1)
    assert api.aclrtDeviceEnablePeerAccess(1, 0) == CONTEXT_NULL
    assert api.aclrtSetDevice(0) == 0
    for _ in range(2):
        assert api.aclrtDeviceEnablePeerAccess(1, 0) == 0
    assert api.aclrtDeviceDisablePeerAccess(1) == 0
    assert api.aclrtDeviceEnablePeerAccess(1, 3) == PARAM_INVALID
    assert (
        message(api) == "aclrtDeviceEnablePeerAccess: flags is 3; it must have no other bits than 0"
    )
    assert api.aclrtDeviceEnablePeerAccess(0, 0) == PARAM_INVALID
    assert "which is the device itself" in message(api)
    for device, peer in ((0, 2), (-1, 0)):
        found = out(ct.c_int32, lambda p, d=device, q=peer: api.aclrtDeviceCanAccessPeer(p, d, q))
        assert found == (INVALID_DEVICEID, 0)
    assert api.aclrtDeviceCanAccessPeer(None, 0, 1) == PARAM_INVALID
    assert api.aclrtDeviceDisablePeerAccess(5) == INVALID_DEVICEID
