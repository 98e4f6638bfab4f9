# SPDX-License-Identifier: Apache-2.0
"""Max unpooling: a scatter, with indices of three kinds.

None repeats in a plane: PyTorch's threads leave open which of them counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import softnpu
from softnpu.bench.arrays import Arrays, NumpyArray, itemsize
from softnpu.bench.cases import case as groups
from softnpu.bench.cases.case import GRID, Case, Prepared
from softnpu.bench.cases.gather import KINDS, Gather
from softnpu.bench.cases.upsample import LARGER

# Few planes: threads share each of them.
FEW = {"64K": (1, 1, 36, 42, 44), "1M": (1, 1, 92, 106, 108), "16M": (1, 1, 240, 264, 266)}


@dataclass(frozen=True)
class Scatter:
    """The gather that is its gradient, whose result's shape is that of the input here."""

    gather: Gather

    def indices(self) -> NumpyArray:
        """Make indices of the kind, int64."""
        if self.gather.kind == "pooling":
            return self.gather.indices()
        random = np.random.default_rng(7)
        planes, inner = math.prod(self.gather.shape[:2]), math.prod(self.gather.shape[2:])
        cells = math.prod(self.gather.volume)
        found = np.stack([random.choice(cells, inner, replace=False) for _ in range(planes)])
        if self.gather.kind == "sorted":
            found.sort(axis=1)
        return found.reshape(self.gather.shape)

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the arrays and bind both sides to them."""
        shape, volume = self.gather.shape, self.gather.volume
        data = arrays.values(shape, self.gather.dtype, 1)
        indices = arrays.constant(self.indices())
        out = arrays.empty((*shape[:2], *volume), self.gather.dtype)
        sizes = (volume, (2, 2, 2), (0, 0, 0))
        ours = partial(softnpu.max_unpool3d, data, indices, *sizes, out=out)
        if arrays.torch is None:
            return Prepared(ours, None, out)
        function = arrays.torch.ops.aten.max_unpool3d.out
        return Prepared(ours, partial(function, data, indices, *map(list, sizes), out=out), out)

    def case(self, size: str, kind: str = "") -> Case:
        """Name it; the kind of shape becomes part of the layout's name."""
        count, item = math.prod(self.gather.shape), itemsize(self.gather.dtype)
        return Case(
            group=groups.SCATTER,
            operator="max_unpool3d",
            variant=self.gather.kind,
            dtype=self.gather.dtype,
            layout="-".join(filter(None, ("contiguous", kind))),
            size=size,
            elements=8 * count,
            bytes=count * (8 + item) + 8 * count * item,
            prepare=self.prepare,
        )


def _pooled(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:2], *(extent // 2 for extent in shape[2:]))


def cases() -> Iterator[Case]:
    """Make all kinds of indices in float32; no integers, of which PyTorch has none here."""
    for dtype, kinds, sizes in (
        ("float32", KINDS, GRID),
        ("float64", ("pooling",), ("64K", "1M", "16M")),
    ):
        for kind in kinds:
            for size in sizes:
                yield Scatter(Gather(_pooled(LARGER[size]), dtype, kind)).case(size)
    for kind in ("pooling", "random"):
        for size, shape in FEW.items():
            yield Scatter(Gather(_pooled(shape), "float32", kind)).case(size, "plane")
