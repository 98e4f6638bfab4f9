# SPDX-License-Identifier: Apache-2.0
"""One kernel for all formulas that take one element of each input."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.devices import OPTIONS, on_device_of
from softnpu.triton.layouts import offsets_of, walk
from softnpu.triton.rounding import to_type, widened

_BLOCK = 1024
TYPES = {
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
    torch.int8: tl.int8,
    torch.int32: tl.int32,
}


@triton.jit
def load_all(inputs, sizes, strides, at, inside, WORK: tl.constexpr):
    """Load an element of each input, in the formulas' type."""
    values = ()
    for i in tl.static_range(len(inputs)):
        value = tl.load(inputs[i] + offsets_of(at, sizes, strides[i]), mask=inside, other=0)
        values = values + (widened(value, WORK),)  # type: ignore[assignment]  # noqa: RUF005
    return values


@triton.jit
def _elementwise(
    inputs,
    out,
    sizes,
    strides,
    count,
    a,
    b,
    c,
    FORMULA: tl.constexpr,
    WORK: tl.constexpr,
    RESULT: tl.constexpr,
    INDEX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0).to(INDEX) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    values = load_all(inputs, sizes, strides, at, inside, WORK)
    numbers = (tl.full((1,), a, WORK), tl.full((1,), b, WORK), tl.full((1,), c, WORK))
    value = to_type(FORMULA(values, numbers), out.dtype.element_ty, RESULT)
    tl.store(out + offsets_of(at, sizes, strides[len(inputs)]), value, mask=inside)


def is_narrow(*tensors: Tensor) -> bool:
    """Whether all have 16 bits, so that float32 is more precise."""
    return all(tensor.dtype in (torch.float16, torch.bfloat16) for tensor in tensors)


def as_float32(number: float) -> float:
    """Round to float32, as a launch does and the interpreter does not."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _as_passed(number: float) -> float:
    return number if isinstance(number, int) else as_float32(number)


def elementwise(
    formula: Any,
    inputs: tuple[Tensor, ...],
    out: Tensor,
    numbers: tuple[float, ...] = (),
    *,
    narrow: bool = False,
) -> Tensor:
    """Write a formula's result for each element of the inputs, which are broadcast to `out`.

    Parameters
    ----------
    formula : function for Triton
        Takes a tuple of the inputs' elements and a tuple of three numbers.
    inputs : tensors
        With any strides; they are read in place.
    out : Tensor
        If it is complex, the result is the real part.
    numbers : at most three numbers
        float32 numbers and integers; formulas convert them to their own type.
    narrow : bool
        Compute in float32 instead of float64.
    """
    if out.numel() == 0:
        return out
    target = out
    if out.is_complex():
        parts = torch.view_as_real(out)
        parts[..., 1].zero_()
        target = parts[..., 0]
    lines = walk(target.shape, (*inputs, target))
    a, b, c = (*map(_as_passed, numbers), 0.0, 0.0, 0.0)[:3]
    result = target.dtype if target.dtype != torch.float64 else torch.float32
    with on_device_of(out):
        _elementwise[(triton.cdiv(lines.elements, _BLOCK),)](
            inputs,
            target,
            lines.sizes,
            lines.strides,
            lines.elements,
            a,
            b,
            c,
            FORMULA=formula,
            WORK=tl.float32 if narrow else tl.float64,
            RESULT=TYPES[result],
            INDEX=lines.index,
            BLOCK=_BLOCK,
            num_warps=4,
            **OPTIONS,
        )
    return out
