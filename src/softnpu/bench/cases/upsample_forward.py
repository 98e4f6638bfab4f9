# SPDX-License-Identifier: Apache-2.0
"""Nearest upsampling: the shapes of its gradient, the other way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import softnpu
from softnpu.bench.arrays import Arrays, itemsize
from softnpu.bench.cases import case as groups
from softnpu.bench.cases.case import Case, Prepared
from softnpu.bench.cases.upsample import IMAGES, Upsample, shaped

OPERATOR = "upsample_nearest3d"
# Of self and of out.
LAYOUTS = {
    "ncdhw": ("contiguous", "contiguous"),
    "ndhwc": ("channels-last", "channels-last"),
    "ndhwc-to-ncdhw": ("channels-last", "contiguous"),
    "transposed": ("transposed", "contiguous"),
}


@dataclass(frozen=True)
class Forward:
    """The shapes of a gradient, and the layouts of both sides."""

    shapes: Upsample
    layout: str

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the arrays and bind both sides to them; the peer sees the same memory."""
        dtype, (placed, out_placed) = self.shapes.dtype, LAYOUTS[self.layout]
        data = arrays.values(self.shapes.result, dtype, 1, placed)
        out = arrays.empty(self.shapes.grad, dtype, out_placed)
        size = self.shapes.grad[2:]
        ours = partial(softnpu.upsample_nearest3d, data, size, out=out)
        if arrays.torch is None:
            return Prepared(ours, None, out)
        function = arrays.torch.ops.aten.upsample_nearest3d.out
        return Prepared(ours, partial(function, data, list(size), out=out), out)

    def case(self, factor: str, size: str, kind: str = "") -> Case:
        """Name it; the kind of shape becomes part of the layout's name."""
        elements = math.prod(self.shapes.grad), math.prod(self.shapes.result)
        return Case(
            group=groups.UPSAMPLE_FORWARD,
            operator=OPERATOR,
            variant=factor,
            dtype=self.shapes.dtype,
            layout="-".join(filter(None, (self.layout, kind))),
            size=size,
            elements=max(elements),
            bytes=sum(elements) * itemsize(self.shapes.dtype),
            prepare=self.prepare,
        )


def cases() -> Iterator[Case]:
    """All factors in float32, some in the other types, in every layout."""
    every = ("x2", "x1.5", "x0.5", "x3.3", "x1,2,2", "x2,1.5,0.5")
    for layout in LAYOUTS:
        for dtype, factors, sizes in (
            ("float32", ("x2", "x3.3"), ("1K",)),
            ("float32", every, ("64K", "1M", "16M")),
            ("float32", ("x8",), ("1M", "16M")),
            ("float16", ("x2", "x1.5"), ("64K", "1M", "16M")),
            ("uint8", ("x2",), ("64K", "1M", "16M")),
            ("float64", ("x2",), ("64K", "1M", "16M")),
        ):
            for factor, size in itertools.product(factors, sizes):
                yield Forward(shaped(factor, size, dtype), layout).case(factor, size)
        for factor, size in itertools.product(("x1,2,2", "x1,1.5,1.5"), IMAGES):
            images = shaped(factor, size, "float32", larger=IMAGES)
            yield Forward(images, layout).case(factor, size, "images")
