# SPDX-License-Identifier: Apache-2.0
"""Tensors described as in the contract's TOML files, laid out in plain byte buffers.

Both ways into an operator share the layout: the C API uploads the buffers, Python views them.
Bytes that belong to no view are poison, so that a stray write is seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu.judging.dtypes import NUMPY

POISON = 0xA5
TAIL = 64  # poisoned bytes behind each buffer's last view, beyond what a storage declares
Bytes = npt.NDArray[np.uint8]


def contiguous(shape: list[int]) -> list[int]:
    """Row-major strides, in elements."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


@dataclass(frozen=True)
class Described:
    """One tensor of a call with everything that its description leaves open filled in."""

    dtype: str
    shape: list[int]
    strides: list[int]
    offset: int
    storage: list[int]
    format: str
    values: Any
    data: str = "device"  # or "null", "host", "misaligned"
    handle: str = "live"  # or "dead", "foreign", "wrong-kind"

    @property
    def item(self) -> int:
        """Bytes of an element."""
        return NUMPY[self.dtype].itemsize

    @property
    def extent(self) -> int:
        """Elements from the storage's first to the view's last."""
        if 0 in self.shape:
            return self.offset
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return self.offset + reach + 1

    def view(self, buffer: Bytes, start: int) -> npt.NDArray[Any]:
        """The tensor's elements in a buffer that holds its storage from byte `start`."""
        dtype = NUMPY[self.dtype]
        whole = buffer[start : start + max(self.extent, 1) * self.item].view(dtype)
        return np.lib.stride_tricks.as_strided(
            whole[min(self.offset, whole.size - 1) :],
            self.shape,
            [s * self.item for s in self.strides],
        )

    def fill(self, buffer: Bytes, start: int) -> None:
        """Write the described values, repeated until the tensor is full."""
        if 0 in self.shape or self.values is None:
            return
        # Dimensions of stride 0 count once: the shape itself may be larger than any memory.
        once = [1 if s == 0 else n for n, s in zip(self.shape, self.strides, strict=True)]
        index: Any = (*(slice(n) for n in once), ...)
        self.view(buffer, start)[index] = np.resize(
            np.array(self.values).astype(NUMPY[self.dtype]), once
        )


def describe(table: Mapping[str, Any]) -> Described:
    """Fill in the defaults, and turn the recipes ("zero", "short", ...) into numbers."""
    shape = list(table["shape"])
    strides = table.get("strides") or contiguous(shape)
    if isinstance(strides, str):
        strides = [{"zero": 0, "one": 1}[strides]] * len(shape)
    described = Described(
        dtype=table["dtype"],
        shape=shape,
        strides=list(strides),
        offset=table.get("offset", 0),
        storage=[],
        format=table.get("format", "ND"),
        values=table.get("data") if not isinstance(table.get("data"), str) else [0],
        data=table["data"] if isinstance(table.get("data"), str) else "device",
        handle=table.get("handle", "live"),
    )
    default = shape if described.extent == math.prod(shape) else [described.extent]
    storage = table.get("storage", default)
    if isinstance(storage, str):
        storage = [max(described.extent + {"short": -1}[storage], 0)]
    described.storage.extend(storage)
    return described


@dataclass
class Place:
    """Where a tensor lies: which buffer, and the byte at which its storage starts."""

    tensor: Described
    buffer: int
    start: int

    def view(self, arena: Arena) -> npt.NDArray[Any]:
        """The tensor's elements."""
        return self.tensor.view(arena.buffers[self.buffer], self.start)


@dataclass
class Arena:
    """The buffers of one call. `room` bytes of each are what the call may know of."""

    buffers: list[Bytes] = field(default_factory=list)
    room: list[int] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def surroundings(self, name: str) -> Bytes:
        """The bytes of a tensor's buffer, its own elements blanked out."""
        place = self.places[name]
        copy: Bytes = self.buffers[place.buffer].copy()
        if 0 not in place.tensor.shape:
            place.tensor.view(copy, place.start)[...] = 0
        return copy


def _room(tensor: Described, table: Mapping[str, Any]) -> int:
    if table.get("room") == "short":
        return max((tensor.extent - 1) * tensor.item, 1)
    return max(tensor.extent, math.prod(tensor.storage), 1) * tensor.item


def lay_out(tables: Mapping[str, Mapping[str, Any]]) -> Arena:
    """One buffer for each tensor, but one for both where a tensor is the alias of another."""
    arena = Arena()
    for name, table in tables.items():
        if "alias" in table:
            continue
        tensor = describe(table)
        arena.places[name] = Place(tensor, len(arena.buffers), 0)
        arena.room.append(_room(tensor, table))
        arena.buffers.append(np.empty(0, np.uint8))
    for name, table in tables.items():
        if "alias" not in table:
            continue
        tensor, other = describe(table), arena.places[table["alias"]]
        room = arena.room[other.buffer]
        shift = table["shift"]
        start = -(-room // tensor.item) * tensor.item if shift == "end" else shift * tensor.item
        arena.places[name] = Place(tensor, other.buffer, start)
        arena.room[other.buffer] = max(room, start + _room(tensor, table))
    arena.buffers = [np.full(room + TAIL, POISON, np.uint8) for room in arena.room]
    for place in arena.places.values():
        place.tensor.fill(arena.buffers[place.buffer], place.start)
    return arena
