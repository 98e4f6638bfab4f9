# SPDX-License-Identifier: Apache-2.0
"""The smooth L1 loss: of each element, and its mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import softnpu
from softnpu.bench.arrays import Arrays
from softnpu.bench.cases import case as groups
from softnpu.bench.cases.case import GRID, Case, Prepared
from softnpu.bench.cases.elementwise import FLOATS, RENEWED, Operand
from softnpu.bench.cases.shapes import shape_for

NONE, MEAN = 0, 1


@dataclass(frozen=True)
class Loss:
    """A prediction, a target, and what is made of them."""

    prediction: Operand
    target: Operand
    reduction: int
    beta: float = 1.0

    @property
    def out(self) -> Operand:
        """The losses, or one number."""
        return Operand(() if self.reduction else self.prediction.shape, self.prediction.dtype)

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the arrays and bind both sides to them."""
        one, other = self.prediction, self.target
        target = arrays.values(other.shape, other.dtype, 1, other.layout)
        out = arrays.empty(self.out.shape, self.out.dtype)
        renew = None
        prediction: Any
        if arrays.torch is not None and math.prod(one.shape) in RENEWED:
            prediction, renew = arrays.renewed(one.shape, one.dtype, 0, one.layout)
        else:
            prediction = arrays.values(one.shape, one.dtype, 0, one.layout)
        given = (prediction, target, self.reduction, self.beta)
        ours = partial(softnpu.smooth_l1_loss, *given, out=out)
        if arrays.torch is None:
            return Prepared(ours, None, out)
        function = arrays.torch.ops.aten.smooth_l1_loss
        if self.reduction:  # PyTorch would give a result that is lent to it the inputs' size
            return Prepared(ours, partial(function.default, *given), renew=renew)
        return Prepared(ours, partial(function.out, *given, out=out), out, renew)

    def case(self, group: str, layout: str, size: str) -> Case:
        """Name it."""
        variant = "mean" if self.reduction else "none"
        return Case(
            group=group,
            operator="smooth_l1_loss",
            variant=variant if self.beta == 1 else f"{variant}-beta-{self.beta}",
            dtype=self.prediction.dtype,
            layout=layout,
            size=size,
            elements=math.prod(self.prediction.shape),
            bytes=self.prediction.bytes + self.target.bytes + self.out.bytes,
            prepare=self.prepare,
        )


def cases() -> Iterator[Case]:
    """All of them."""
    for reduction in (NONE, MEAN):
        yield from _dense(reduction)
        yield from _strided(reduction)


def _dense(reduction: int) -> Iterator[Case]:
    for size in GRID:
        for dtype in FLOATS:
            shape = shape_for("contiguous", size)
            full, row = Operand(shape, dtype), Operand((1, shape[1]), dtype)
            yield Loss(full, full, reduction).case(groups.LOSS, "contiguous", size)
            yield Loss(full, row, reduction).case(groups.LOSS, "rows", size)
            if dtype == "float32":
                column, number = Operand((shape[0], 1), dtype), Operand((), dtype)
                yield Loss(full, column, reduction).case(groups.LOSS, "columns", size)
                yield Loss(full, number, reduction).case(groups.LOSS, "scalar", size)
                yield Loss(full, full, reduction, 0.3).case(groups.LOSS, "contiguous", size)


def _strided(reduction: int) -> Iterator[Case]:
    """Turn the target alone, which then lies unlike the prediction, and both."""
    for layout in ("transposed", "channels-last", "sliced"):
        for size in ("64K", "1M", "16M"):
            for dtype in ("float32", "bfloat16"):
                shape = shape_for(layout, size)
                plain, moved = Operand(shape, dtype), Operand(shape, dtype, layout)
                yield Loss(plain, moved, reduction).case(groups.LOSS_STRIDED, layout, size)
                both = Loss(moved, moved, reduction)
                yield both.case(groups.LOSS_STRIDED, f"both-{layout}", size)
