# SPDX-License-Identifier: Apache-2.0
"""Activations."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, wide


@fused
def npu_swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """Halve the input along `dim`; give silu of the first half times the second."""
    size = input.shape[dim]
    if size % 2:
        raise RuntimeError(
            f"npu_swiglu: dimension {dim} has {size} elements; expected an even number"
        )
    gate, value = wide(input).chunk(2, dim)
    return (torch.nn.functional.silu(gate) * value).to(input.dtype)


@fused
def npu_silu(self: Tensor) -> Tensor:
    """Give x * sigmoid(x)."""
    return torch.nn.functional.silu(self)


@fused
def npu_fast_gelu(self: Tensor) -> Tensor:
    """Give x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)), which is x * sigmoid(1.702 x)."""
    x = wide(self)
    return (x * torch.sigmoid(1.702 * x)).to(self.dtype)
