# SPDX-License-Identifier: Apache-2.0
"""What tests of virtual memory share: its structures, and a reserved range that cleans up."""

from __future__ import annotations

import ctypes as ct
from types import TracebackType
from typing import Any

from tests.support.acl_runtime import Runtime, made, memory_info

GRANULARITY = 2 << 20
MEM_ATTR_HBM = 1


class Location(ct.Structure):
    """Like aclrtMemLocation."""

    _fields_ = [("id", ct.c_uint32), ("type", ct.c_int32)]


class PhysicalProp(ct.Structure):
    """Like aclrtPhysicalMemProp."""

    _fields_ = [
        ("handle_type", ct.c_int32),
        ("allocation_type", ct.c_int32),
        ("attr", ct.c_int32),
        ("location", Location),
        ("reserve", ct.c_uint64),
    ]


class BatchAttr(ct.Structure):
    """Like aclrtMemcpyBatchAttr."""

    _fields_ = [("dst", Location), ("src", Location), ("rsv", ct.c_uint8 * 16)]


def prop(**other: int) -> PhysicalProp:
    """Physical memory of device 0, as clients describe it, with some fields replaced."""
    location = Location(other.pop("id", 0), other.pop("type", 1))
    fields = {"handle_type": 0, "allocation_type": 0, "attr": MEM_ATTR_HBM, **other}
    return PhysicalProp(location=location, **fields)


def room() -> Any:
    """Room for a result of which nobody asks."""
    return ct.byref(ct.c_uint64())


def given(**other: int) -> Any:
    """A description of memory."""
    return ct.byref(prop(**other))


def free_bytes(rt: Runtime) -> int:
    """What is left on the thread's device."""
    return memory_info(rt.api)[0]


class Range:
    """Reserved addresses of so many units of the granularity, and what is mapped there."""

    def __init__(self, rt: Runtime, units: int) -> None:
        self.rt, self.api = rt, rt.api
        self.base = made(rt.api.aclrtReserveMemAddress, units * GRANULARITY, 0, None, 0)
        self.mapped: dict[int, int] = {}  # handles by address

    def __enter__(self) -> Range:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        for unit in [(at - self.base) // GRANULARITY for at in self.mapped]:
            self.end(unit)
        assert self.api.aclrtReleaseMemAddress(self.base) == 0, self.rt.message()

    def at(self, unit: int) -> int:
        """The address of a unit."""
        return self.base + unit * GRANULARITY

    def allocate(self, units: int = 1) -> int:
        """Physical memory."""
        return made(self.api.aclrtMallocPhysical, units * GRANULARITY, ct.byref(prop()), 0)

    def map(self, unit: int, units: int = 1, handle: int | None = None) -> int:
        """Map physical memory, new unless it is given, and return its handle."""
        handle = self.allocate(units) if handle is None else handle
        self.rt.check(self.api.aclrtMapMem(self.at(unit), units * GRANULARITY, 0, handle, 0))
        self.mapped[self.at(unit)] = handle
        return handle

    def unmap(self, unit: int) -> int:
        """Unmap what was mapped there, and return its handle."""
        self.rt.check(self.api.aclrtUnmapMem(self.at(unit)))
        return self.mapped.pop(self.at(unit))

    def end(self, unit: int) -> None:
        """Unmap and free."""
        self.rt.check(self.api.aclrtFreePhysical(self.unmap(unit)))
