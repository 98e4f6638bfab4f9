# SPDX-License-Identifier: Apache-2.0
"""elu on a GPU."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.elementwise import as_float32, elementwise, is_narrow
from softnpu.triton.exponentials import narrow_expm1, wide_expm1


@triton.jit
def _formula(values, numbers):
    x, alpha, scale, input_scale = values[0], numbers[0], numbers[1], numbers[2]
    return tl.where(x > 0, scale * x, alpha * scale * wide_expm1(x * input_scale))


@triton.jit
def _narrow_formula(values, numbers):
    x, alpha, scale = values[0], numbers[0], numbers[1]
    return tl.where(x > 0, scale * x, alpha * scale * narrow_expm1(tl.where(x > 0, 0.0, x)))


def fits_narrow(alpha: float, scale: float, input_scale: float) -> bool:
    """Whether float32 keeps alpha * scale exactly, and products with it within its range."""
    wide = as_float32(alpha) * as_float32(scale)
    moderate = 2.0**-20 < abs(wide) <= 4 and 2.0**-20 < abs(scale) < 2.0**20
    return input_scale == 1 and moderate and as_float32(wide) == wide


def elu(self: Tensor, alpha: float, scale: float, input_scale: float, out: Tensor) -> Tensor:
    """Write elu of `self` to `out`; as `softnpu.elu`."""
    numbers = float(alpha), float(scale), float(input_scale)
    narrow = is_narrow(self, out) and fits_narrow(*numbers)
    formula = _narrow_formula if narrow else _formula
    return elementwise(formula, (self,), out, numbers, narrow=narrow)
