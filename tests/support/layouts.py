# SPDX-License-Identifier: Apache-2.0
"""The same values in every memory layout that a NumPy view can have.

A layout says how a view lies in a larger buffer. Everything in the buffer that does not belong to
the view is poison, so that a stray read changes a result and a stray write is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

GUARD = 7  # elements before and after the block; odd, so that the block is not aligned to a vector
POISON = 0xA5


@dataclass(frozen=True)
class Layout:
    """Order of the axes in memory, step and padding along each; lists repeat over the axes."""

    name: str
    order: str | tuple[int, ...] = "C"
    steps: tuple[int, ...] = (1,)
    pads: tuple[int, ...] = (0,)
    offset: int = 0

    def axes(self, rank: int) -> tuple[int, ...]:
        """Axes from the slowest to the fastest in memory."""
        if isinstance(self.order, tuple):
            return tuple(sorted(range(rank), key=lambda axis: self.order[axis % len(self.order)]))
        if self.order == "F":
            return tuple(reversed(range(rank)))
        if self.order == "last" and rank > 1:
            return (0, *range(2, rank), 1)
        return tuple(range(rank))


CONTIGUOUS = Layout("contiguous")
LAYOUTS = (
    CONTIGUOUS,
    Layout("offset", offset=3),
    Layout("transposed", order="F"),
    Layout("channels-last", order="last"),
    Layout("padded rows", pads=(0, 0, 5), offset=1),
    Layout("every second", steps=(2,)),
    Layout("every third of the rows", steps=(3, 1)),
    Layout("reversed", steps=(-1,)),
    Layout("reversed rows", steps=(-1, 1)),
    Layout("reversed every second", steps=(1, -2), pads=(1,)),
    Layout("transposed, stepped, padded", order="F", steps=(2, -1, 3), pads=(1, 2), offset=5),
)


@dataclass(frozen=True)
class Placed:
    """A view, the buffer it lies in, and what the buffer held when the view was placed."""

    view: npt.NDArray[Any]
    buffer: npt.NDArray[Any]
    before: bytes

    def buffer_unchanged(self) -> bool:
        """Whether the whole buffer, view and poison, still has its bits."""
        return self.buffer.tobytes() == self.before

    def surroundings_unchanged(self) -> bool:
        """Whether everything outside the view still has its bits. Overwrites the view."""
        written = self.view.copy()
        self.view[...] = np.frombuffer(b"\0" * written.nbytes, written.dtype).reshape(written.shape)
        now = self.buffer.tobytes()
        self.buffer[...] = np.frombuffer(self.before, self.buffer.dtype)
        self.view[...] = np.frombuffer(b"\0" * written.nbytes, written.dtype).reshape(written.shape)
        intact = now == self.buffer.tobytes()
        self.view[...] = written
        return intact


def place(values: npt.NDArray[Any], layout: Layout, *, poison: int = POISON) -> Placed:
    """Copy values into a poisoned buffer in the given layout."""
    placed = _empty(values.shape, values.dtype, layout, poison)
    placed.view[...] = values
    return Placed(placed.view, placed.buffer, placed.buffer.tobytes())


def place_output(
    shape: tuple[int, ...], dtype: npt.DTypeLike, layout: Layout, *, poison: int = POISON
) -> Placed:
    """Make a poisoned output of the given layout."""
    return _empty(shape, np.dtype(dtype), layout, poison)


def _empty(shape: tuple[int, ...], dtype: np.dtype[Any], layout: Layout, poison: int) -> Placed:
    axes = layout.axes(len(shape))
    steps = [layout.steps[axis % len(layout.steps)] for axis in range(len(shape))]
    pads = [layout.pads[axis % len(layout.pads)] for axis in range(len(shape))]
    extents = [size * abs(step) + pad for size, step, pad in zip(shape, steps, pads, strict=True)]
    size = math.prod(extents)
    total = size + 2 * GUARD + layout.offset
    buffer = np.frombuffer(bytearray([poison]) * (total * dtype.itemsize), dtype)
    block = buffer[GUARD + layout.offset :][:size].reshape([extents[axis] for axis in axes])
    cuts = tuple(_cut(shape[axis], steps[axis]) for axis in axes)
    whole: tuple[Any, ...] = (*cuts, ...)  # the ellipsis keeps rank 0 an array
    view = block[whole].transpose(np.argsort(axes).tolist() if axes else None)
    return Placed(view, buffer, buffer.tobytes())


def _cut(size: int, step: int) -> slice:
    if size == 0:
        return slice(0, 0, step)
    last = (size - 1) * abs(step)
    return slice(0, last + 1, step) if step > 0 else slice(last, None, step)


def broadcast_along(values: npt.NDArray[Any], *axes: int) -> npt.NDArray[Any]:
    """Repeat the first slice along some axes with a stride of 0. Values change along these axes."""
    cut = tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(values.ndim))
    return np.broadcast_to(np.ascontiguousarray(values[cut]), values.shape)


def any_layout(rank: int = 8) -> st.SearchStrategy[Layout]:
    """Layouts at random: any order of the axes, steps of either sign, padding, an offset.

    Few axes are stepped or padded at once, since each of them multiplies the size of the buffer.
    """
    return st.builds(
        Layout,
        name=st.just("random"),
        order=st.permutations(range(rank)).map(tuple),
        steps=_few(st.sampled_from((2, 3, -1, -2)), rank, 3, otherwise=1),
        pads=_few(st.integers(1, 3), rank, 2, otherwise=0),
        offset=st.integers(0, 9),
    )


def _few(
    values: st.SearchStrategy[int], size: int, most: int, *, otherwise: int
) -> st.SearchStrategy[tuple[int, ...]]:
    chosen = st.dictionaries(st.integers(0, size - 1), values, max_size=most)
    return chosen.map(lambda at: tuple(at.get(axis, otherwise) for axis in range(size)))


def any_shape(max_rank: int = 8, max_elements: int = 4096) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of rank 0 to ``max_rank``, some of them empty, with a bounded number of elements."""
    size = st.integers(0, 5) | st.sampled_from((16, 17, 33, 64, 65))
    shapes = st.lists(size, max_size=max_rank).map(tuple)
    return shapes.filter(lambda shape: math.prod(max(n, 1) for n in shape) <= max_elements)
