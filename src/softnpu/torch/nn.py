# SPDX-License-Identifier: Apache-2.0
"""Modules with the arguments and results of `torch.nn`'s, computed by softnpu.

A model needs only ``import softnpu.torch.nn as snn`` beside ``torch.nn``. Cases that softnpu does
not support (other modes of upsampling, other ranks) are left to PyTorch, and so are arguments that
PyTorch refuses; data types that softnpu does not support are refused.

TorchScript compiles this code, hence its plain Python. `torch.fx.symbolic_trace` treats a function
that reads sizes as one node.
"""

import warnings
from numbers import Integral

import torch
from torch import Tensor
from torch.nn import _reduction, functional

from softnpu.errors import with_rule

__all__ = ["ELU", "SELU", "MaxUnpool3d", "SmoothL1Loss", "Upsample"]


class ELU(torch.nn.ELU):
    """`torch.nn.ELU` by aclnnElu and aclnnInplaceElu."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute elu of a float32, float16 or bfloat16 tensor of any shape."""
        if self.inplace:
            return torch.ops.softnpu.elu_(input, self.alpha)
        return torch.ops.softnpu.elu(input, self.alpha)


class SELU(torch.nn.SELU):
    """`torch.nn.SELU` by aclnnSelu and aclnnInplaceSelu."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute selu of a float32, float16 or bfloat16 tensor of any shape."""
        if self.inplace:
            return torch.ops.softnpu.selu_(input)
        return torch.ops.softnpu.selu(input)


class SmoothL1Loss(torch.nn.SmoothL1Loss):
    """`torch.nn.SmoothL1Loss` by aclnnSmoothL1Loss."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of tensors whose shapes broadcast together."""
        return smooth_l1_loss(input, target, self.reduction, self.beta)


class Upsample(torch.nn.Upsample):
    """`torch.nn.Upsample` by aclnnUpsampleNearest3d if mode is "nearest" and the rank is 5."""

    def forward(self, input: Tensor) -> Tensor:
        """Upsample a tensor of shape (N, C, D, H, W); others as `torch.nn.Upsample` does."""
        size, factor, recompute = self.size, self.scale_factor, self.recompute_scale_factor
        if self.mode == "nearest" and self.align_corners is None:
            if size is not None and factor is None:
                if not isinstance(size, (tuple, list)):
                    return upsample(input, [size], None, recompute)
                if len(size) == 3:
                    return upsample(input, list(size), None, recompute)
            if size is None and factor is not None:
                if not isinstance(factor, (tuple, list)):
                    return upsample(input, None, [factor], recompute)
                if len(factor) == 3:
                    return upsample(input, None, list(factor), recompute)
        # PyTorch computes it, or raises its own error.
        return functional.interpolate(input, size, factor, self.mode, self.align_corners, recompute)


class MaxUnpool3d(torch.nn.MaxUnpool3d):
    """`torch.nn.MaxUnpool3d` by aclnnMaxUnpool3d."""

    def forward(
        self, input: Tensor, indices: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        """Move each value back to where `torch.nn.MaxPool3d` found it; zeros elsewhere."""
        kernel, stride, padding = _each(self.kernel_size), _each(self.stride), _each(self.padding)
        return max_unpool3d(input, indices, kernel, stride, padding, output_size)


@torch.fx.wrap
def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str, beta: float) -> Tensor:
    """Compute the loss, with the warnings of `torch.nn.functional.smooth_l1_loss`."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). Both are broadcast, which is seldom meant.",
            stacklevel=2,
        )
    number = _reduction.get_enum(reduction)
    return torch.ops.softnpu.smooth_l1_loss(input, target, number, beta)


@torch.fx.wrap
def upsample(
    input: Tensor, size: list[int] | None, factors: list[float] | None, recompute: bool | None
) -> Tensor:
    """Upsample to a size or by a factor, one for each axis or for all."""
    rank = input.dim() - 2
    recompute = recompute is not None and recompute
    if size is not None:
        size = size * rank if len(size) == 1 else size
        if rank == 3 and not recompute and _are_integers(size):
            return torch.ops.softnpu.upsample_nearest3d(input, size)
    if factors is not None:
        factors = factors * rank if len(factors) == 1 else factors
        if rank == 3:
            d, h, w = factors[0], factors[1], factors[2]
            size = [_truncated(input.size(i + 2) * factors[i]) for i in range(3)]
            if recompute:
                return torch.ops.softnpu.upsample_nearest3d(input, size)
            return torch.ops.softnpu.upsample_nearest3d(input, size, d, h, w)
    return functional.interpolate(input, size, factors, recompute_scale_factor=recompute)


@torch.fx.wrap
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel: list[int],
    stride: list[int],
    padding: list[int],
    output_size: list[int] | None,
) -> Tensor:
    """Unpool to the smallest volume that pools to the input, or to one within a stride of that."""
    size = [(input.size(i - 3) - 1) * stride[i] + kernel[i] - 2 * padding[i] for i in range(3)]
    if output_size is not None:
        wanted = output_size[2:] if len(output_size) == 5 else output_size
        near = len(wanted) == 3
        for i in range(len(wanted)):
            near = near and wanted[i] >= 0 and abs(wanted[i] - size[i]) < stride[i]
        if not near:
            _refuse(
                f"MaxUnpool3d: output_size is {output_size}; expected sizes less than a stride, "
                f"{stride}, away from {size}"
            )
        size = wanted
    return torch.ops.softnpu.max_unpool3d(input, indices, size, stride, padding)


def _each(setting: int | tuple[int, int, int]) -> list[int]:
    """Expand a setting for all axes to one for each."""
    if isinstance(setting, int):
        return [setting] * 3
    return list(setting)


def _truncated(size: float) -> int:
    """Round towards zero; also works for symbolic sizes."""
    if torch.jit.is_scripting():  # type: ignore[attr-defined]
        return int(size)
    return torch.sym_int(size)


def _are_integers(sizes: list[int]) -> bool:
    if torch.jit.is_scripting():  # type: ignore[attr-defined]
        return True
    return all(isinstance(n, (Integral, torch.SymInt)) for n in sizes)


@torch.jit.unused
def _refuse(message: str) -> None:
    raise with_rule(ValueError(message), rule="module-output-size")
