# SPDX-License-Identifier: Apache-2.0
"""leaky_relu on a GPU."""

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.elementwise import elementwise


@triton.jit
def _formula(values, numbers):
    return tl.where(values[0] > 0, values[0], numbers[0] * values[0])


def leaky_relu(self: Tensor, negative_slope: float, out: Tensor) -> Tensor:
    """Write leaky_relu of `self` to `out`; as `softnpu.leaky_relu`."""
    return elementwise(_formula, (self,), out, (float(negative_slope),))
