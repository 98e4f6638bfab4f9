# SPDX-License-Identifier: Apache-2.0
"""The gradient of max unpooling: a gather, with indices of three kinds."""

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

# N, C, D, H, W of the result; the gradient that is gathered from is twice as long along D, H, W.
RESULTS = {
    "1K": (1, 2, 6, 8, 10),
    "64K": (2, 12, 12, 14, 16),
    "1M": (2, 20, 26, 30, 34),
    "16M": (2, 48, 50, 58, 60),
}
KINDS = ("pooling", "sorted", "random")


@dataclass(frozen=True)
class Gather:
    """A result's shape, and where its elements come from."""

    shape: tuple[int, ...]
    dtype: str
    kind: str

    @property
    def volume(self) -> tuple[int, ...]:
        """D, H and W of the gradient."""
        return tuple(2 * extent for extent in self.shape[2:])

    def indices(self) -> NumpyArray:
        """Make indices of the kind, int64."""
        random = np.random.default_rng(7)
        planes, inner = math.prod(self.shape[:2]), math.prod(self.shape[2:])
        if self.kind == "pooling":
            return self._pooled(random)
        found = random.integers(0, math.prod(self.volume), (planes, inner))
        if self.kind == "sorted":
            found.sort(axis=1)
        return found.reshape(self.shape)

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the arrays; PyTorch's gather sees them flattened, which is prepared beforehand."""
        grad = arrays.values((*self.shape[:2], *self.volume), self.dtype, 1)
        data = arrays.values(self.shape, self.dtype, 2)
        indices = arrays.constant(self.indices())
        out = arrays.empty(self.shape, self.dtype)
        sizes = (self.volume, (2, 2, 2), (0, 0, 0))
        ours = partial(softnpu.max_unpool3d_backward, grad, data, indices, *sizes, out=out)
        if arrays.torch is None:
            return Prepared(ours, None, out)
        flat = (*self.shape[:2], -1)
        peer = partial(
            arrays.torch.ops.aten.gather.out,
            grad.view(flat),
            2,
            indices.view(flat),
            out=out.view(flat),
        )
        return Prepared(ours, peer, out)

    def case(self, size: str) -> Case:
        """Name it."""
        count, item = math.prod(self.shape), itemsize(self.dtype)
        source = count * 8
        # Random indices hit some elements more than once; pooled ones none.
        distinct = count if self.kind == "pooling" else int(source * -math.expm1(-count / source))
        return Case(
            group=groups.GATHER,
            operator="max_unpool3d_backward",
            variant=self.kind,
            dtype=self.dtype,
            layout="contiguous",
            size=size,
            elements=count,
            bytes=count * (8 + item) + distinct * item,
            prepare=self.prepare,
            footprint=count * (8 + 2 * item) + source * item,
        )

    def _pooled(self, random: np.random.Generator) -> NumpyArray:
        """Choose one of the eight elements of every window, as max pooling does."""
        corners = [2 * np.arange(extent) for extent in self.shape[2:]]
        choice = random.integers(0, 8, self.shape)
        d = corners[0][:, None, None] + (choice >> 2)
        h = corners[1][:, None] + (choice >> 1 & 1)
        w = corners[2] + (choice & 1)
        _, height, width = self.volume
        found: NumpyArray = (d * height + h) * width + w
        return found


def cases() -> Iterator[Case]:
    """All kinds of indices; the types by their widths."""
    for dtype, kinds, sizes in (
        ("float32", KINDS, GRID),
        ("float64", KINDS, ("64K", "1M", "16M")),
        ("float16", KINDS, ("64K", "1M", "16M")),
        ("int8", ("pooling",), ("64K", "1M")),
        ("int64", ("pooling",), ("64K", "1M")),
    ):
        for kind in kinds:
            for size in sizes:
                yield Gather(RESULTS[size], dtype, kind).case(size)
