# SPDX-License-Identifier: Apache-2.0
"""smooth_l1_loss as an operator of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep, total
from softnpu.torch.fake import empty_like
from softnpu.torch.library import define
from softnpu.torch.recording import Gradients
from softnpu.torch.vmap import one_by_one

NONE, MEAN, SUM = 0, 1, 2
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


def admits(_result: torch.dtype, out: torch.dtype) -> bool:
    """Whether an output may have a data type: any of the inputs' data types."""
    return out in FLOATS


def difference(of_self: Tensor | None, of_target: Tensor | None) -> Tensor:
    """Return the tangent of self - target."""
    return total(of_self, None if of_target is None else -of_target)


def _fake(self: Tensor, target: Tensor, reduction: int = MEAN, _beta: float = 1.0) -> Tensor:
    dtype = torch.promote_types(self.dtype, target.dtype)
    shape = torch.broadcast_shapes(self.shape, target.shape) if reduction == NONE else ()
    return empty_like(self, shape, dtype)


def _settings(reduction: int = MEAN, beta: float = 1.0) -> tuple[int, float]:
    return reduction, beta


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    self, target, *context.rest = inputs
    keep(context, self, target)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    self, target = context.saved_tensors
    reduction, beta = _settings(*context.rest)
    slope = torch.ops.softnpu.smooth_l1_loss_backward(gradient, self, target, reduction, beta)
    of_self = slope.sum_to_size(self.shape).to(self.dtype) if context.needs_input_grad[0] else None
    of_target = None
    if context.needs_input_grad[1]:
        of_target = (-slope).sum_to_size(target.shape).to(target.dtype)
    return of_self, of_target, *[None] * len(context.rest)


def _jvp(
    context: Any, of_self: Tensor | None, of_target: Tensor | None, *_settings_have_none: None
) -> Tensor:
    self, target = context.saved_tensors
    reduction, beta = _settings(*context.rest)
    direction = difference(of_self, of_target)
    terms = torch.ops.softnpu.smooth_l1_loss_backward(direction, self, target, NONE, beta)
    if reduction == NONE:
        return terms
    return terms.mean() if reduction == MEAN else terms.sum()


smooth_l1_loss = define(
    "smooth_l1_loss",
    fake=_fake,
    save=_save,
    backward=_backward,
    jvp=_jvp,
    vmap=one_by_one("smooth_l1_loss"),
    autocast=torch.float32,
    out_admits=admits,
)
