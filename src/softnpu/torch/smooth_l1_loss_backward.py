# SPDX-License-Identifier: Apache-2.0
"""The gradient of smooth_l1_loss as an operator of PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep, total
from softnpu.torch.fake import empty_like
from softnpu.torch.library import define
from softnpu.torch.recording import Gradients
from softnpu.torch.smooth_l1_loss import MEAN, admits, difference
from softnpu.torch.vmap import one_by_one


def _fake(grad_out: Tensor, self: Tensor, target: Tensor, _reduction: int, _beta: float) -> Tensor:
    dtype = torch.promote_types(torch.promote_types(grad_out.dtype, self.dtype), target.dtype)
    shape = torch.broadcast_shapes(self.shape, target.shape, grad_out.shape)
    return empty_like(grad_out, shape, dtype)


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    grad_out, self, target, context.reduction, context.beta = inputs
    keep(context, grad_out, self, target)


def _along_grad(context: Any, direction: Tensor) -> Tensor:
    """Differentiate by grad_out, in which the operator is linear."""
    _, self, target = context.saved_tensors
    return torch.ops.softnpu.smooth_l1_loss_backward(
        direction, self, target, context.reduction, context.beta
    )


def _along_difference(context: Any, direction: Tensor) -> Tensor:
    """Differentiate by self - target: the second derivative is 0 from beta on."""
    grad_out, self, target = context.saved_tensors
    bent = (self - target).abs() < context.beta
    terms = math.prod(bent.shape) if context.reduction == MEAN else 1
    if not context.beta:
        return direction * grad_out * bent
    return direction * grad_out * bent / (context.beta * terms)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    grad_out, self, target = context.saved_tensors
    needs = context.needs_input_grad
    of_grad, of_self, of_target = None, None, None
    if needs[0]:
        slope = _along_grad(context, gradient)
        of_grad = slope.sum_to_size(grad_out.shape).to(grad_out.dtype)
    if needs[1] or needs[2]:
        bend = _along_difference(context, gradient)
        of_self = bend.sum_to_size(self.shape).to(self.dtype) if needs[1] else None
        of_target = (-bend).sum_to_size(target.shape).to(target.dtype) if needs[2] else None
    return of_grad, of_self, of_target, None, None


def _jvp(
    context: Any,
    of_grad: Tensor | None,
    of_self: Tensor | None,
    of_target: Tensor | None,
    *_settings: None,
) -> Tensor:
    moves = of_self is not None or of_target is not None
    return total(
        None if of_grad is None else _along_grad(context, of_grad),
        _along_difference(context, difference(of_self, of_target)) if moves else None,
    )


smooth_l1_loss_backward = define(
    "smooth_l1_loss_backward",
    fake=_fake,
    save=_save,
    backward=_backward,
    jvp=_jvp,
    vmap=one_by_one("smooth_l1_loss_backward"),
    autocast=torch.float32,
    out_admits=admits,
)
