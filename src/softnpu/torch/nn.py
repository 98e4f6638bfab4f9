# SPDX-License-Identifier: Apache-2.0
"""Modules with the arguments and results of `torch.nn`'s, computed by softnpu.

``import softnpu.torch.nn as snn`` beside ``torch.nn``, or one line that swaps the names, is all
that a model needs. What softnpu does not have (other modes of upsampling, other ranks) is left to
PyTorch; data types that it does not have are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from softnpu.errors import with_rule
from softnpu.torch.smooth_l1_loss import REDUCTIONS

__all__ = ["ELU", "SELU", "MaxUnpool3d", "SmoothL1Loss", "Upsample"]


class ELU(torch.nn.ELU):
    """`torch.nn.ELU` by aclnnElu and aclnnInplaceElu."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute elu of a float32, float16 or bfloat16 tensor of any shape."""
        operator = torch.ops.softnpu.elu_ if self.inplace else torch.ops.softnpu.elu
        return operator(input, self.alpha)


class SELU(torch.nn.SELU):
    """`torch.nn.SELU` by aclnnSelu and aclnnInplaceSelu."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute selu of a float32, float16 or bfloat16 tensor of any shape."""
        operator = torch.ops.softnpu.selu_ if self.inplace else torch.ops.softnpu.selu
        return operator(input)


class SmoothL1Loss(torch.nn.SmoothL1Loss):
    """`torch.nn.SmoothL1Loss` by aclnnSmoothL1Loss."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of tensors whose shapes broadcast together."""
        reduction = REDUCTIONS.get(self.reduction)
        if reduction is None:
            message = f"reduction is {self.reduction!r}; expected one of {list(REDUCTIONS)}"
            raise with_rule(ValueError(f"SmoothL1Loss: {message}"), rule="reduction")
        return torch.ops.softnpu.smooth_l1_loss(input, target, reduction, self.beta)


class Upsample(torch.nn.Upsample):
    """`torch.nn.Upsample` by aclnnUpsampleNearest3d where mode is "nearest" and the rank is 5."""

    def forward(self, input: Tensor) -> Tensor:
        """Upsample a tensor of shape (N, C, D, H, W); others as `torch.nn.Upsample` does."""
        if self.mode != "nearest" or input.dim() != 5:
            return super().forward(input)
        size, scales = self._target(input)
        return torch.ops.softnpu.upsample_nearest3d(input, size, *scales)

    def _target(self, input: Tensor) -> tuple[Sequence[int], Sequence[float | None]]:
        """Find the output's D, H, W, and the factors where they count."""
        if self.size is not None:
            given = (self.size,) * 3 if isinstance(self.size, int) else self.size
            return [int(s) for s in given if s is not None], (None, None, None)
        if self.scale_factor is None:
            # PyTorch says what is missing.
            return interpolate(input).shape[2:], (None, None, None)
        factor = self.scale_factor
        factors = factor if isinstance(factor, tuple) else (factor,) * 3
        size = [int(n * f) for n, f in zip(input.shape[2:], factors, strict=True)]
        return size, (None, None, None) if self.recompute_scale_factor else factors


class MaxUnpool3d(torch.nn.MaxUnpool3d):
    """`torch.nn.MaxUnpool3d` by aclnnMaxUnpool3d."""

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Put each value back to where `torch.nn.MaxPool3d` found it; zeros elsewhere."""
        kernel, stride, padding = (
            (v,) * 3 if isinstance(v, int) else tuple(v)
            for v in (self.kernel_size, self.stride, self.padding)
        )
        default = [
            (n - 1) * s + k - 2 * p
            for n, k, s, p in zip(input.shape[-3:], kernel, stride, padding, strict=True)
        ]
        size = default if output_size is None else self._checked(output_size, default, stride)
        return torch.ops.softnpu.max_unpool3d(input, indices, size, stride, padding)

    def _checked(
        self, output_size: Sequence[int], default: Sequence[int], stride: Sequence[int]
    ) -> Sequence[int]:
        """Take the last three of output_size, each within a stride of the default."""
        wanted = list(output_size)[-3:]
        near = [abs(w - d) < s for w, d, s in zip(wanted, default, stride, strict=False)]
        if len(wanted) != 3 or not all(near):
            message = (
                f"MaxUnpool3d: output_size is {list(output_size)}; expected sizes less than a "
                f"stride, {list(stride)}, away from {default}"
            )
            raise with_rule(ValueError(message), rule="module-output-size")
        return wanted
