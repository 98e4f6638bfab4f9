# SPDX-License-Identifier: Apache-2.0
"""The gradient of upsample_nearest3d as an operator of PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from softnpu.torch.fake import empty_like
from softnpu.torch.library import define
from softnpu.torch.recording import Gradients
from softnpu.torch.upsample_nearest3d import Scale
from softnpu.torch.vmap import of_no_samples


def _fake(
    grad_out: Tensor, _output_size: Sequence[int], input_size: Sequence[int], *_scales: Scale
) -> Tensor:
    return empty_like(grad_out, input_size)


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    _, context.output_size, context.input_size, *context.scales = inputs


def _jvp(context: Any, of_grad: Tensor, *_sizes: None) -> Tensor:
    return torch.ops.softnpu.upsample_nearest3d_backward(
        of_grad, context.output_size, context.input_size, *context.scales
    )


def _backward(context: Any, gradient: Tensor) -> Gradients:
    of_grad = torch.ops.softnpu.upsample_nearest3d(gradient, context.output_size, *context.scales)
    return of_grad, None, None, *[None] * len(context.scales)


def _vmap(
    info: Any,
    in_dims: tuple[int | None, ...],
    grad_out: Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    *scales: Scale,
) -> tuple[Tensor, int]:
    """Fold the batch into N, in the tensor and in input_size."""
    call = torch.ops.softnpu.upsample_nearest3d_backward
    if info.batch_size == 0:
        return of_no_samples(call, in_dims, (grad_out, output_size, input_size, *scales))
    grad = grad_out.movedim(in_dims[0] or 0, 0).flatten(0, 1)
    result = call(grad, output_size, (info.batch_size * input_size[0], *input_size[1:]), *scales)
    return result.unflatten(0, (info.batch_size, input_size[0])), 0


upsample_nearest3d_backward = define(
    "upsample_nearest3d_backward",
    fake=_fake,
    save=_save,
    backward=_backward,
    jvp=_jvp,
    vmap=_vmap,
)
