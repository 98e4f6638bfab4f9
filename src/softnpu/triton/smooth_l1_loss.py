# SPDX-License-Identifier: Apache-2.0
"""smooth_l1_loss on a GPU."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.devices import OPTIONS, on_device_of
from softnpu.triton.elementwise import TYPES, as_float32, elementwise, is_narrow, load_all
from softnpu.triton.layouts import walk
from softnpu.triton.rounding import to_type

NONE, MEAN, SUM = 0, 1, 2
_BLOCK = 1024
_MOST_PARTS = 1024  # independent of the GPU, so that all return the same bits


@triton.jit
def _formula(values, numbers):
    d, beta = tl.abs(values[0] - values[1]), numbers[0]
    half = tl.full((1,), 0.5, d.dtype)
    return tl.where(d < beta, d * (d * (half / beta)), d - half * beta)


@triton.jit
def _sum_parts(
    inputs,
    parts,
    sizes,
    strides,
    count,
    beta,
    INDEX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add up blocks, with a stride of the number of programs."""
    total = tl.zeros((BLOCK,), tl.float64)
    numbers = (tl.full((1,), beta, tl.float64),)
    step = tl.num_programs(0).to(INDEX) * BLOCK
    start = tl.program_id(0).to(INDEX) * BLOCK
    while start < count:
        at = start + tl.arange(0, BLOCK)
        inside = at < count
        values = load_all(inputs, sizes, strides, at, inside, tl.float64)
        total += tl.where(inside, _formula(values, numbers), 0.0)
        start += step
    tl.store(parts + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def _sum_of_parts(parts, out, number, terms, RESULT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(parts + at, mask=at < number, other=0.0), 0)
    mean = tl.full((1,), 0.0, tl.float64) + total / tl.full((1,), terms, tl.float64)
    tl.store(out + tl.arange(0, 1), to_type(mean, out.dtype.element_ty, RESULT))


def is_moderate(value: float) -> bool:
    """Whether float32 quotients by this number cannot overflow or underflow."""
    return 2.0**-60 < value < 2.0**60


def terms(self: Tensor, target: Tensor) -> int:
    """Count the elements of the loss before it is reduced."""
    return int(torch.broadcast_shapes(self.shape, target.shape).numel())


def smooth_l1_loss(
    self: Tensor, target: Tensor, reduction: int, beta: float, out: Tensor
) -> Tensor:
    """Write the loss to `out`; as `softnpu.smooth_l1_loss`.

    Sums are computed in float64, in an order that depends only on sizes and strides.
    """
    if reduction == NONE:
        narrow = is_narrow(self, target, out) and is_moderate(beta)
        return elementwise(_formula, (self, target), out, (beta,), narrow=narrow)
    return _reduced(self, target, beta, terms(self, target) if reduction == MEAN else 1, out)


def _reduced(self: Tensor, target: Tensor, beta: float, divisor: int, out: Tensor) -> Tensor:
    shape = torch.broadcast_shapes(self.shape, target.shape)
    number = min(_MOST_PARTS, triton.cdiv(shape.numel(), _BLOCK))
    parts = torch.empty(max(number, 1), dtype=torch.float64, device=out.device)
    with on_device_of(out):
        if number:
            lines = walk(shape, (self, target))
            _sum_parts[(number,)](
                (self, target),
                parts,
                lines.sizes,
                lines.strides,
                lines.elements,
                as_float32(beta),
                INDEX=lines.index,
                BLOCK=_BLOCK,
                num_warps=4,
                **OPTIONS,
            )
        _sum_of_parts[(1,)](
            parts, out, number, divisor, RESULT=TYPES[out.dtype], BLOCK=_MOST_PARTS, **OPTIONS
        )
    return out
