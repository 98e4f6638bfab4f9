# SPDX-License-Identifier: Apache-2.0
"""The gradient of smooth_l1_loss on a GPU."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.elementwise import elementwise, is_narrow
from softnpu.triton.smooth_l1_loss import MEAN, is_moderate, terms


@triton.jit
def _formula(values, numbers):
    grad, d, beta, count = values[0], values[1] - values[2], numbers[0], numbers[1]
    norm = 1 / count
    sign = tl.where(d > 0, norm, tl.where(d < 0, -norm, tl.where(d == 0, 0.0, d)))
    return grad * tl.where(tl.abs(d) < beta, d * (norm / beta), sign)


def smooth_l1_loss_backward(
    grad_out: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float, out: Tensor
) -> Tensor:
    """Write the gradient of smooth_l1_loss to `out`; as `softnpu.smooth_l1_loss_backward`."""
    inputs = grad_out, self, target
    count = terms(self, target) if reduction == MEAN else 1
    narrow = is_narrow(*inputs, out) and is_moderate(beta) and is_moderate(beta * count)
    return elementwise(_formula, inputs, out, (beta, count), narrow=narrow)
