# SPDX-License-Identifier: Apache-2.0
"""The gradient of nearest upsampling: factors, channels first and channels last."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import softnpu
from softnpu.bench.arrays import Arrays, itemsize
from softnpu.bench.cases import case as groups
from softnpu.bench.cases.case import Case, Prepared

# The forward's output over its input, for D, H and W.
FACTORS = {
    "x2": (2.0, 2.0, 2.0),
    "x1.5": (1.5, 1.5, 1.5),
    "x0.5": (0.5, 0.5, 0.5),
    "x3.3": (3.3, 3.3, 3.3),
    "x8": (8.0, 8.0, 8.0),
    "x1,2,2": (1.0, 2.0, 2.0),
    "x1,1.5,1.5": (1.0, 1.5, 1.5),
    "x2,1.5,0.5": (2.0, 1.5, 0.5),
}

# N, C, D, H, W of the larger side, near the nominal sizes.
LARGER = {
    "1K": (1, 2, 6, 8, 10),
    "64K": (2, 12, 12, 14, 16),
    "1M": (2, 20, 26, 30, 34),
    "16M": (2, 48, 50, 58, 60),
    "64M": (4, 48, 66, 72, 74),
}
# The same in powers of two, which networks like and caches do not.
POWERS_OF_TWO = {
    "64K": (1, 8, 8, 32, 32),
    "1M": (1, 32, 32, 32, 32),
    "16M": (2, 64, 32, 64, 64),
}
# Images of three channels, in rows of several hundred elements; of 16M a batch of them.
IMAGES = {
    "64K": (1, 3, 1, 146, 150),
    "1M": (1, 3, 1, 590, 594),
    "16M": (16, 3, 1, 590, 594),
}


@dataclass(frozen=True)
class Upsample:
    """Shapes N, C, D, H, W of both gradients; ``last`` puts C behind W in memory."""

    grad: tuple[int, ...]
    result: tuple[int, ...]
    dtype: str
    last: bool

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the arrays and bind both sides to them; the peer sees the same memory."""
        order = (0, 2, 3, 4, 1) if self.last else (0, 1, 2, 3, 4)
        back = tuple(int(axis) for axis in np.argsort(order))
        shape = tuple(self.result[axis] for axis in order)
        grad = arrays.values(tuple(self.grad[axis] for axis in order), self.dtype, 1)
        out = arrays.empty(shape, self.dtype)
        ours = partial(
            softnpu.upsample_nearest3d_backward,
            grad,
            self.grad[2:],
            shape,
            format="NDHWC" if self.last else "NCDHW",
            out=out,
        )
        if arrays.torch is None:
            return Prepared(ours, None, out)
        seen = out.permute(back)
        function = arrays.torch.ops.aten.upsample_nearest3d_backward.grad_input
        peer = partial(
            function, grad.permute(back), list(self.grad[2:]), list(self.result), grad_input=seen
        )
        return Prepared(ours, peer, out)

    def allocating(self, arrays: Arrays) -> Prepared:
        """Make the input alone; both sides make their result."""
        grad = arrays.values(self.grad, self.dtype, 1)
        sizes = (list(self.grad[2:]), list(self.result))
        ours = partial(softnpu.upsample_nearest3d_backward, grad, *sizes)
        peer: Any = None
        if arrays.torch is not None:
            peer = partial(arrays.torch.ops.aten.upsample_nearest3d_backward.default, grad, *sizes)
        return Prepared(ours, peer)

    def case(self, factor: str, size: str, kind: str = "") -> Case:
        """Name it; the kind of shape becomes part of the layout's name."""
        elements = math.prod(self.grad), math.prod(self.result)
        return Case(
            group=groups.UPSAMPLE_LAST if self.last else groups.UPSAMPLE,
            operator="upsample_nearest3d_backward",
            variant=factor,
            dtype=self.dtype,
            layout="-".join(filter(None, ("ndhwc" if self.last else "ncdhw", kind))),
            size=size,
            elements=max(elements),
            bytes=sum(elements) * itemsize(self.dtype),
            prepare=self.prepare,
        )

    def allocating_case(self, factor: str, size: str) -> Case:
        """Name the variant that makes its result."""
        case = self.case(factor, size)
        return dataclasses.replace(
            case, group=groups.ALLOCATING, layout="allocating", prepare=self.allocating
        )


def shaped(
    factor: str,
    size: str,
    dtype: str,
    last: bool = False,
    larger: Mapping[str, tuple[int, ...]] = LARGER,
) -> Upsample:
    """Choose the shapes: the gradient has the nominal size, or the result where it is larger."""
    batch, channels, *volume = larger[size]
    # Where one axis grows and another shrinks, neither side is as large as its axes say.
    channels *= 2 if max(FACTORS[factor]) > 1 > min(FACTORS[factor]) else 1
    grad, result = [], []
    for extent, scale in zip(volume, FACTORS[factor], strict=True):
        inner = max(1, round(extent / max(scale, 1)))
        grad.append(max(1, int(inner * scale) if scale >= 1 else int(extent * scale)))
        result.append(inner if scale >= 1 else extent)
    return Upsample((batch, channels, *grad), (batch, channels, *result), dtype, last)


def cases() -> Iterator[Case]:
    """Most factors in float32, some in the other types; x8 needs volumes of some size."""
    some, large, flat = ("x2", "x1.5", "x2,1.5,0.5"), ("x8",), ("x1,2,2", "x1,1.5,1.5")
    every = tuple(name for name in FACTORS if name not in (*large, "x1,1.5,1.5"))
    for last in (False, True):
        for dtype, factors, sizes in (
            ("float32", ("x2", "x3.3"), ("1K",)),
            ("float32", every, ("64K", "1M", "16M")),
            ("float32", large, ("1M", "16M")),
            ("float16", some, ("64K", "1M", "16M")),
            ("bfloat16", some, ("64K", "1M", "16M")),
            ("bfloat16", large, ("1M", "16M")),
            ("float64", ("x2",), ("64K", "1M", "16M")),
        ):
            for factor in factors:
                for size in sizes:
                    yield shaped(factor, size, dtype, last).case(factor, size)
        for size in POWERS_OF_TWO:
            even = shaped("x2", size, "float32", last, POWERS_OF_TWO)
            yield even.case("x2", size, "power-of-two")
        for dtype, factor, size in itertools.product(("float32", "float16"), flat, IMAGES):
            yield shaped(factor, size, dtype, last, IMAGES).case(factor, size, "images")
    for dtype in ("float32", "float16", "bfloat16"):
        yield shaped("x2", "64M", dtype).case("x2", "64M")
