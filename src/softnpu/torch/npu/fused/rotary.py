# SPDX-License-Identifier: Apache-2.0
"""Rotary position embeddings."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, wide


def _turned(x: Tensor, mode: str) -> Tensor:
    if mode == "half":
        first, second = x.chunk(2, -1)
        return torch.cat((-second, first), -1)
    if mode == "interleave":
        return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    raise RuntimeError(f"npu_rotary_mul: rotary_mode is {mode!r}; expected half or interleave")


@fused
def npu_rotary_mul(input: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str = "half") -> Tensor:
    """Give input * r1 + turned(input) * r2: r1 has cosines, r2 sines."""
    x = wide(input)
    return (x * wide(r1) + _turned(x, rotary_mode) * wide(r2)).to(input.dtype)
