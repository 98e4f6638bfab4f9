# SPDX-License-Identifier: Apache-2.0
"""Virtual memory: wrong arguments give their code, their name, and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.support.acl_runtime import (
    INVALID_DEVICEID,
    INVALID_HANDLE,
    NOT_A_HANDLE,
    PARAM_INVALID,
    Runtime,
)
from tests.support.virtual_memory import GRANULARITY, Range, free_bytes, given, room


class Prepared(NamedTuple):
    """A range with memory at units 1 and 2, and some that is mapped nowhere."""

    addresses: Range
    mine: int
    other: int

    @property
    def base(self) -> int:
        """The range's address."""
        return self.addresses.base

    def at(self, unit: int) -> int:
        """The address of a unit."""
        return self.addresses.at(unit)


MISUSE: list[tuple[str, Callable[[Prepared], tuple[Any, ...]], str]] = [
    ("aclrtReserveMemAddress", lambda _: (None, GRANULARITY, 0, None, 0), "virPtr is null"),
    ("aclrtReserveMemAddress", lambda _: (room(), 0, 0, None, 0), "size is 0"),
    ("aclrtReserveMemAddress", lambda _: (room(), GRANULARITY, 3, None, 0), "alignment is 3"),
    ("aclrtReserveMemAddress", lambda _: (room(), GRANULARITY, 2**63, None, 0), "alignment is 9"),
    ("aclrtReserveMemAddress", lambda _: (room(), GRANULARITY, 0, 64, 0), "expectPtr is not null"),
    ("aclrtReserveMemAddress", lambda _: (room(), GRANULARITY, 0, None, 2), "flags is 2"),
    ("aclrtReleaseMemAddress", lambda _: (None,), "virPtr is null"),
    ("aclrtReleaseMemAddress", lambda _: (64,), "which is in no range"),
    ("aclrtReleaseMemAddress", lambda s: (s.base + 1,), "virPtr is 1 bytes into a reserved"),
    ("aclrtReleaseMemAddress", lambda s: (s.base,), "virPtr is a range in which memory is map"),
    ("aclrtMallocPhysical", lambda _: (None, GRANULARITY, given(), 0), "handle is null"),
    ("aclrtMallocPhysical", lambda _: (room(), 0, given(), 0), "size is 0"),
    ("aclrtMallocPhysical", lambda _: (room(), 64, given(), 0), "size is 64; it must be a multi"),
    ("aclrtMallocPhysical", lambda _: (room(), GRANULARITY, None, 0), "prop is null"),
    ("aclrtMallocPhysical", lambda _: (room(), GRANULARITY, given(), 1), "flags is 1"),
    *(
        (
            "aclrtMallocPhysical",
            lambda _, wrong=wrong: (room(), GRANULARITY, given(**wrong), 0),
            why,
        )
        for wrong, why in (
            ({"handle_type": 7}, "prop->handleType is 7"),
            ({"allocation_type": -1}, "prop->allocationType is -1"),
            ({"attr": 6}, "prop->memAttr is 6"),
            ({"type": 0}, "prop->location.type is 0; it must be ACL_MEM_LOCATION_TYPE_DEVICE (1)"),
        )
    ),
    ("aclrtFreePhysical", lambda _: (None,), "handle is a null pointer"),
    ("aclrtFreePhysical", lambda s: (s.mine,), "handle is mapped at 0x"),
    ("aclrtMapMem", lambda s: (None, GRANULARITY, 0, s.other, 0), "virPtr is null"),
    ("aclrtMapMem", lambda s: (64, GRANULARITY, 0, s.other, 0), "which is in no range"),
    ("aclrtMapMem", lambda s: (s.at(4) + 64, GRANULARITY, 0, s.other, 0), "virPtr is "),
    ("aclrtMapMem", lambda s: (s.at(7), 2 * GRANULARITY, 0, s.other, 0), "range ends 2097152"),
    ("aclrtMapMem", lambda s: (s.at(4), 0, 0, s.other, 0), "size is 0"),
    ("aclrtMapMem", lambda s: (s.at(4), 64, 0, s.other, 0), "size is 64"),
    ("aclrtMapMem", lambda s: (s.at(4), 2 * GRANULARITY, 0, s.other, 0), "has only 2097152 bytes"),
    ("aclrtMapMem", lambda s: (s.at(4), GRANULARITY, 64, s.other, 0), "offset is 64"),
    ("aclrtMapMem", lambda s: (s.at(4), GRANULARITY, GRANULARITY, s.other, 0), "offset is 2097152"),
    ("aclrtMapMem", lambda s: (s.at(4), GRANULARITY, 0, s.other, 1), "flags is 1"),
    ("aclrtMapMem", lambda s: (s.at(4), GRANULARITY, 0, None, 0), "handle is a null pointer"),
    ("aclrtMapMem", lambda s: (s.at(4), GRANULARITY, 0, s.mine, 0), "handle is mapped at 0x"),
    ("aclrtMapMem", lambda s: (s.at(2), GRANULARITY, 0, s.other, 0), "memory is mapped already at"),
    ("aclrtMapMem", lambda s: (s.at(0), 2 * GRANULARITY, 0, s.other, 0), "is mapped already at"),
    ("aclrtUnmapMem", lambda _: (None,), "virPtr is null"),
    ("aclrtUnmapMem", lambda _: (64,), "which is in no range"),
    ("aclrtUnmapMem", lambda s: (s.at(3),), "virPtr has no memory: no memory is mapped at 0x"),
    ("aclrtUnmapMem", lambda s: (s.at(2),), "virPtr is 2097152 bytes into a mapping"),
    ("aclrtMemGetAllocationGranularity", lambda _: (None, 0, room()), "prop is null"),
    ("aclrtMemGetAllocationGranularity", lambda _: (given(), 2, room()), "option is 2"),
    ("aclrtMemGetAllocationGranularity", lambda _: (given(), 0, None), "granularity is null"),
    ("aclrtFree", lambda s: (s.base,), "aclrtUnmapMem and aclrtReleaseMemAddress end its use"),
    ("aclrtFreeHost", lambda s: (s.at(1),), "range that aclrtReserveMemAddress reserved"),
]


@pytest.mark.parametrize(("function", "arguments", "why"), MISUSE)
def test_misuse(
    rt: Runtime, addresses: Range, function: str, arguments: Callable[..., Any], why: str
) -> None:
    """A wrong argument gives 107000 and its name, and changes nothing."""
    prepared = Prepared(addresses, addresses.map(1, 2), addresses.allocate())
    left = free_bytes(rt)
    assert getattr(rt.api, function)(*arguments(prepared)) == PARAM_INVALID
    said = rt.message()
    assert said.startswith(function + ": ")
    assert why in said
    assert free_bytes(rt) == left
    addresses.map(4, handle=prepared.other)


def test_dead_handles_and_other_devices(rt: Runtime, addresses: Range) -> None:
    """Handles that are no live ones give 107017, devices that are not there 107001."""
    handle = addresses.allocate()
    rt.check(rt.api.aclrtFreePhysical(handle))
    for wrong in (handle, NOT_A_HANDLE, rt.stream, addresses.base):
        assert rt.api.aclrtFreePhysical(wrong) == INVALID_HANDLE
        assert rt.api.aclrtMapMem(addresses.at(0), GRANULARITY, 0, wrong, 0) == INVALID_HANDLE
        assert "expected a live aclrtDrvMemHandle" in rt.message()
    for function, arguments in (
        ("aclrtMallocPhysical", (room(), GRANULARITY, given(id=99), 0)),
        ("aclrtMemGetAllocationGranularity", (given(id=99), 0, room())),
    ):
        assert getattr(rt.api, function)(*arguments) == INVALID_DEVICEID
        assert "prop->location.id is 99" in rt.message()
