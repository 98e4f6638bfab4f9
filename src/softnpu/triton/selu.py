# SPDX-License-Identifier: Apache-2.0
"""selu on a GPU."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.elementwise import elementwise, is_narrow
from softnpu.triton.exponentials import narrow_expm1, wide_expm1

LAMBDA = tl.constexpr(1.0507009873554804934193349852946)
LAMBDA_ALPHA = tl.constexpr(1.7580993408473768599402175208123)


@triton.jit
def _formula(values, _numbers):
    x = values[0]
    return tl.where(x > 0, LAMBDA * x, LAMBDA_ALPHA * wide_expm1(x))


@triton.jit
def _narrow_formula(values, _numbers):
    x = values[0]
    return tl.where(x > 0, LAMBDA * x, LAMBDA_ALPHA * narrow_expm1(tl.where(x > 0, 0.0, x)))


def selu(self: Tensor, out: Tensor) -> Tensor:
    """Write selu of `self` to `out`; as `softnpu.selu`."""
    if is_narrow(self, out):
        return elementwise(_narrow_formula, (self,), out, narrow=True)
    return elementwise(_formula, (self,), out)
