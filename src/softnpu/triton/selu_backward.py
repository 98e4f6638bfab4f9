# SPDX-License-Identifier: Apache-2.0
"""The gradient of selu on a GPU."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.elementwise import elementwise
from softnpu.triton.selu import LAMBDA, LAMBDA_ALPHA


@triton.jit
def _formula(values, _numbers):
    grad, y = values[0], values[1]
    return grad * tl.where(y >= 0, LAMBDA, y + LAMBDA_ALPHA)


def selu_backward(grad_output: Tensor, result: Tensor, out: Tensor) -> Tensor:
    """Write the gradient of selu to `out`; as `softnpu.selu_backward`.

    Always in float64: y + lambda * alpha cancels, and lambda * alpha is inexact in float32.
    """
    return elementwise(_formula, (grad_output, result), out)
