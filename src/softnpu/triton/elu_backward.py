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
    """Multiply by 2**k in two steps, since it is too small for float32 where grad is large."""
    grad, x, alpha, scale = values[0], values[1], numbers[0], numbers[1]
    p, k = narrow_parts(tl.where(x > 0, 0.0, x))
    half = tl.floor(k * 0.5)
    half = tl.where(half < -126.0, -126.0, half)
    rest = tl.where(k - half < -126.0, -126.0, k - half)
    below = (grad * power_of_two(half)) * (alpha * scale * (1 + p)) * power_of_two(rest)
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
