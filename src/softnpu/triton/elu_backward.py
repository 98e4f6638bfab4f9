# SPDX-License-Identifier: Apache-2.0
"""The gradient of elu on a GPU."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.elementwise import elementwise, is_narrow
from softnpu.triton.elu import fits_narrow
from softnpu.triton.exponentials import narrow_parts, power_of_two


@triton.jit
def _from_result(values, numbers):
    grad, y, alpha, scale, input_scale = values[0], values[1], numbers[0], numbers[1], numbers[2]
    return grad * tl.where(y > 0, scale, input_scale * (y + alpha * scale))


@triton.jit
def _from_input(values, numbers):
    grad, x, alpha, scale, input_scale = values[0], values[1], numbers[0], numbers[1], numbers[2]
    below = input_scale * alpha * scale * tl.exp(x * input_scale)
    return grad * tl.where(x > 0, scale, below)


@triton.jit
def _narrow_from_input(values, numbers):
    """Multiply by 2**k first, in three steps, because it may underflow in float32.

    If exp(x) is 0 in float64, an infinite grad gives NaN.
    """
    grad, x, alpha, scale = values[0], values[1], numbers[0], numbers[1]
    p, k = narrow_parts(tl.where(x > 0, 0.0, x))
    third = tl.floor(k * 0.33)
    step, rest = power_of_two(third), power_of_two(k - 2 * third)
    rest = tl.where(x < -745.2, 0.0, rest)
    below = (grad * step * step * rest) * (alpha * scale * (1 + p))
    return tl.where(x > 0, grad * scale, below)


def elu_backward(
    grad_output: Tensor,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: Tensor,
    out: Tensor,
) -> Tensor:
    """Write the gradient of elu to `out`; as `softnpu.elu_backward`."""
    inputs = grad_output, self_or_result
    numbers = float(alpha), float(scale), float(input_scale)
    narrow = is_narrow(*inputs, out) and fits_narrow(*numbers)
    from_input = _narrow_from_input if narrow else _from_input
    formula = _from_result if is_result else from_input
    return elementwise(formula, inputs, out, numbers, narrow=narrow)
