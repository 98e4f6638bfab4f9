# SPDX-License-Identifier: Apache-2.0
"""Virtual memory in any order, against a model: which calls succeed, and what is read where.

Sizes are units of the granularity. A unit of memory holds one number, with which it was filled.
"""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from softnpu import acl
from tests.support.virtual_memory import GRANULARITY, prop

INVALID_HANDLE = 107017


@dataclass(eq=False)
class Physical:
    """Physical memory, and what each of its units holds; None is not known."""

    handle: int
    units: list[int | None]
    alive: bool = True
    mapping: Mapping | None = None


@dataclass(eq=False)
class Mapping:
    """Where a part of physical memory is mapped, in units of its range."""

    first: int
    size: int
    offset: int
    physical: Physical


@dataclass(eq=False)
class Reserved:
    """A range of addresses."""

    base: int
    size: int
    alive: bool = True
    mappings: list[Mapping] = field(default_factory=list)

    def at(self, unit: int) -> int:
        """The address of a unit."""
        return self.base + unit * GRANULARITY

    def owner(self, unit: int) -> Mapping | None:
        """What is mapped there."""
        for each in self.mappings:
            if each.first <= unit < each.first + each.size:
                return each
        return None


class Device(RuleBasedStateMachine):
    """What an allocator may do, and does wrong."""

    ranges = Bundle("ranges")
    memories = Bundle("memories")
    units = st.integers(0, 5)
    sizes = st.integers(1, 3)

    def __init__(self) -> None:
        super().__init__()
        self.prop = prop()
        self.all_ranges: list[Reserved] = []
        self.all_memories: list[Physical] = []

    @initialize(target=ranges)
    def first_range(self) -> Reserved:
        """One that is there at first."""
        return self.reserve(4)

    @initialize(target=memories)
    def first_memory(self) -> Physical:
        """Some that is there at first."""
        return self.allocate(2)

    @rule(target=ranges, size=st.integers(1, 5))
    def reserve(self, size: int) -> Reserved:
        """Reserve addresses, maybe those of a range that was released."""
        base, ret = acl.rt.reserve_mem_address(size * GRANULARITY, 0, None, 0)
        assert ret == 0
        for each in self.all_ranges:  # they are one range's alone
            each.alive = each.alive and each.base != base
        self.all_ranges.append(Reserved(base, size))
        return self.all_ranges[-1]

    @rule(range_=ranges)
    def release(self, range_: Reserved) -> None:
        """Once, and when nothing is mapped there."""
        if any(each.alive and each.base == range_.base for each in self.all_ranges):
            range_ = next(e for e in self.all_ranges if e.alive and e.base == range_.base)
        works = range_.alive and not range_.mappings
        assert (acl.rt.release_mem_address(range_.base) == 0) == works
        range_.alive = range_.alive and not works

    @rule(target=memories, size=sizes)
    def allocate(self, size: int) -> Physical:
        """Take physical memory."""
        handle, ret = acl.rt.malloc_physical(size * GRANULARITY, ct.addressof(self.prop), 0)
        assert ret == 0
        self.all_memories.append(Physical(handle, [None] * size))
        return self.all_memories[-1]

    @rule(memory=memories)
    def free(self, memory: Physical) -> None:
        """Once, and when it is not mapped."""
        works = memory.alive and memory.mapping is None
        code = acl.rt.free_physical(memory.handle)
        assert (code == 0) == works
        assert (code == INVALID_HANDLE) == (not memory.alive)
        memory.alive = memory.alive and not works

    @rule(
        range_=ranges,
        memory=memories,
        first=units,
        size=st.one_of(st.none(), sizes),
        offset=st.sampled_from([0, 0, 0, 1, 2]),
    )
    def map(
        self, range_: Reserved, memory: Physical, first: int, size: int | None, offset: int
    ) -> None:
        """A free part of a live range takes a part of live memory that is not mapped."""
        size = len(memory.units) - offset if size is None else size
        places = range(first, first + size)
        works = (
            range_.alive
            and memory.alive
            and memory.mapping is None
            and 0 < size <= len(memory.units) - offset
            and first + size <= range_.size
            and all(range_.owner(each) is None for each in places)
        )
        if not range_.alive or first >= range_.size or size <= 0:
            return  # the addresses may be another range's
        code = acl.rt.map_mem(
            range_.at(first), size * GRANULARITY, offset * GRANULARITY, memory.handle, 0
        )
        assert (code == 0) == works, acl.get_recent_err_msg()
        if works:
            memory.mapping = Mapping(first, size, offset, memory)
            range_.mappings.append(memory.mapping)

    @rule(range_=ranges, unit=units)
    def unmap(self, range_: Reserved, unit: int) -> None:
        """By the address at which it was mapped."""
        if not range_.alive or unit >= range_.size:
            return
        mapping = range_.owner(unit)
        works = mapping is not None and mapping.first == unit
        assert (acl.rt.unmap_mem(range_.at(unit)) == 0) == works
        if mapping is not None and works:
            mapping.physical.mapping = None
            range_.mappings.remove(mapping)

    @rule(range_=ranges, first=units, size=sizes, value=st.integers(0, 255))
    def fill(self, range_: Reserved, first: int, size: int, value: int) -> None:
        """What is mapped without a gap can be written, and nothing else."""
        if not range_.alive or first >= range_.size:
            return
        count = size * GRANULARITY
        owners = [range_.owner(unit) for unit in range(first, first + size)]
        code = acl.rt.memset(range_.at(first), count, value, count)
        assert (code == 0) == (None not in owners)
        if code != 0:
            return
        for unit, owner in enumerate(owners, first):
            assert owner is not None
            owner.physical.units[unit - owner.first + owner.offset] = value

    @rule(range_=ranges)
    def read(self, range_: Reserved) -> None:
        """Each unit holds what its memory was filled with."""
        host = np.zeros(1, np.uint8)
        for unit in range(range_.size if range_.alive else 0):
            owner = range_.owner(unit)
            for place in (range_.at(unit), range_.at(unit + 1) - 1):
                code = acl.rt.memcpy(host.ctypes.data, 1, place, 1, acl.ACL_MEMCPY_DEFAULT)
                assert (code == 0) == (owner is not None)
                if owner is not None:
                    held = owner.physical.units[unit - owner.first + owner.offset]
                    assert held in (None, host[0])

    def teardown(self) -> None:
        """What is alive can be ended, whatever came before."""
        for each in self.all_ranges:
            for mapping in each.mappings:
                assert acl.rt.unmap_mem(each.at(mapping.first)) == 0
            if each.alive:
                assert acl.rt.release_mem_address(each.base) == 0
        for memory in self.all_memories:
            assert (acl.rt.free_physical(memory.handle) == 0) == memory.alive


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    """Device 0 in this thread; the process stays initialised."""
    assert acl.init() in (0, 100002)
    assert acl.rt.set_device(0) == 0
    yield
    acl.rt.reset_device(0)
    acl.get_recent_err_msg()


TestDevice: Any = Device.TestCase
TestDevice.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
