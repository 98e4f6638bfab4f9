# SPDX-License-Identifier: Apache-2.0
"""Activations."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, wide


def _halves(name: str, tensor: Tensor, dim: int) -> tuple[Tensor, ...]:
    size = tensor.shape[dim]
    if size % 2:
        raise RuntimeError(f"{name}: dimension {dim} has {size} elements; expected an even number")
    return wide(tensor).chunk(2, dim)


@fused
def npu_swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """Halve the input along `dim`; give silu of the first half times the second."""
    gate, value = _halves("npu_swiglu", input, dim)
    return (torch.nn.functional.silu(gate) * value).to(input.dtype)


@fused
def npu_geglu(
    self: Tensor, dim: int = -1, approximate: int = 1, activate_left: bool = False
) -> tuple[Tensor, Tensor]:
    """Halve the input along `dim`; give one half times gelu of the other, and that gelu.

    With `approximate` 1, gelu is the one of tanh; `activate_left` takes gelu of the first half.
    """
    left, right = _halves("npu_geglu", self, dim)
    value, gate = (right, left) if activate_left else (left, right)
    gelu = torch.nn.functional.gelu(gate, approximate="tanh" if approximate else "none")
    return (value * gelu).to(self.dtype), gelu.to(self.dtype)


@fused
def npu_silu(self: Tensor) -> Tensor:
    """Give x * sigmoid(x)."""
    return torch.nn.functional.silu(self)


@fused
def npu_fast_gelu(self: Tensor) -> Tensor:
    """Give x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)), which is x * sigmoid(1.702 x)."""
    x = wide(self)
    return (x * torch.sigmoid(1.702 * x)).to(self.dtype)
