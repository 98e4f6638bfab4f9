# SPDX-License-Identifier: Apache-2.0
"""The forward functions elu and selu, with an output that is given."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import softnpu
from softnpu.bench.arrays import Arrays, distinct, itemsize
from softnpu.bench.cases import case as groups
from softnpu.bench.cases.case import Case, Prepared
from softnpu.bench.cases.elementwise import ALPHA, FLOATS, RENEWED, SCALE
from softnpu.bench.cases.shapes import shape_for

SIZES = ("64K", "1M", "16M")


@dataclass(frozen=True)
class Unary:
    """One input, one output, and the function between them."""

    operator: str
    dtype: str
    size: str
    layout: str = "contiguous"
    out_layout: str = "contiguous"

    @property
    def shape(self) -> tuple[int, ...]:
        """Both arrays'."""
        last = "channels-last" in (self.layout, self.out_layout)
        return shape_for("channels-last" if last else "contiguous", self.size)

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the arrays and bind both sides to them."""
        x = arrays.values(self.shape, self.dtype, 0, self.layout)
        out = arrays.empty(self.shape, self.dtype, self.out_layout)
        renew = None
        if arrays.torch is not None and math.prod(self.shape) in RENEWED:
            x, renew = arrays.renewed(self.shape, self.dtype, 0, self.layout)
        ours = partial(getattr(softnpu, self.operator), x, out=out)
        peer = None
        if arrays.torch is not None:
            numbers = (ALPHA, SCALE) if self.operator == "selu" else (1.0, 1.0)
            peer = partial(arrays.torch.ops.aten.elu.out, x, *numbers, 1.0, out=out)
        return Prepared(ours, peer, out, renew)

    def case(self) -> Case:
        """Name it."""
        moved = distinct(self.shape, self.layout) + math.prod(self.shape)
        dense = self.out_layout == "contiguous"
        return Case(
            group=groups.FORWARD_ELU,
            operator=self.operator,
            variant="",
            dtype=self.dtype,
            layout=self.layout if dense else f"out-{self.out_layout}",
            size=self.size,
            elements=math.prod(self.shape),
            bytes=moved * itemsize(self.dtype),
            prepare=self.prepare,
        )


def cases() -> Iterator[Case]:
    """All of them."""
    for operator in ("elu", "selu"):
        for size in SIZES:
            for dtype in FLOATS:
                yield Unary(operator, dtype, size).case()
            for layout in ("transposed", "channels-last", "sliced"):
                yield Unary(operator, "float32", size, layout).case()
            yield Unary(operator, "float32", size, out_layout="transposed").case()
