# SPDX-License-Identifier: Apache-2.0
"""Norms by the root mean square."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, wide


def _normalized(x: Tensor, gamma: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    dims = tuple(range(-gamma.dim(), 0))
    if x.shape[-gamma.dim() :] != gamma.shape:
        raise RuntimeError(
            f"gamma has shape {list(gamma.shape)}; expected the last dimensions of {list(x.shape)}"
        )
    rstd = torch.rsqrt(x.square().mean(dims, keepdim=True) + epsilon)
    return x * rstd * wide(gamma), rstd


@fused
def npu_rms_norm(self: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """Divide by the root mean square of the dimensions that `gamma` has, and multiply by `gamma`.

    Returns
    -------
    tuple of Tensor
        The result, and 1 over the root mean square, in float32.
    """
    y, rstd = _normalized(wide(self), gamma, epsilon)
    return y.to(self.dtype), rstd


@fused
def npu_add_rms_norm(
    x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize x1 + x2 as `npu_rms_norm` does; give the result, the factor, and the sum."""
    x = (wide(x1) + wide(x2)).to(x1.dtype)
    y, rstd = _normalized(wide(x), gamma, epsilon)
    return y.to(x.dtype), rstd, x
