# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d as a PyTorch operator; dimensions are N, C, D, H, W in any memory format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from softnpu.torch.fake import empty_like
from softnpu.torch.library import define
from softnpu.torch.recording import Gradients
from softnpu.torch.vmap import folded

Scale = float | None


def _fake(self: Tensor, output_size: Sequence[int], *_scales: Scale) -> Tensor:
    torch._check(self.dim() == 5, lambda: f"self has rank {self.dim()}; expected 5: N, C, D, H, W")
    return empty_like(self, (*self.shape[:2], *output_size))


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    self, context.output_size, *context.scales = inputs
    context.input_size = self.shape


def _jvp(context: Any, of_self: Tensor, *_sizes: None) -> Tensor:
    return torch.ops.softnpu.upsample_nearest3d(of_self, context.output_size, *context.scales)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    of_self = torch.ops.softnpu.upsample_nearest3d_backward(
        gradient, context.output_size, context.input_size, *context.scales
    )
    return of_self, None, *[None] * len(context.scales)


upsample_nearest3d = define(
    "upsample_nearest3d",
    fake=_fake,
    save=_save,
    backward=_backward,
    jvp=_jvp,
    vmap=folded("upsample_nearest3d"),
)
