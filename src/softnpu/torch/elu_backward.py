# SPDX-License-Identifier: Apache-2.0
"""The gradient of elu as an operator of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep, total
from softnpu.torch.library import define
from softnpu.torch.recording import Gradients


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    grad_output, *context.numbers, self_or_result = inputs
    keep(context, grad_output, self_or_result)


def _along_grad(context: Any, direction: Tensor) -> Tensor:
    """Differentiate by grad_output, in which the operator is linear."""
    _, x = context.saved_tensors
    return torch.ops.softnpu.elu_backward(direction, *context.numbers, x)


def _along_x(context: Any, direction: Tensor) -> Tensor:
    """Differentiate by self_or_result: elu's second derivative, 0 at 0 as in PyTorch."""
    grad_output, x = context.saved_tensors
    _, _, input_scale, is_result = context.numbers
    if is_result:
        bend = direction * grad_output * input_scale
    else:
        bend = direction * input_scale
        bend = bend * torch.ops.softnpu.elu_backward(grad_output, *context.numbers, x)
    return torch.where(x >= 0, torch.zeros_like(bend), bend)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    of_grad = _along_grad(context, gradient) if context.needs_input_grad[0] else None
    of_x = _along_x(context, gradient) if context.needs_input_grad[5] else None
    return of_grad, None, None, None, None, of_x


def _jvp(context: Any, of_grad: Tensor | None, *numbers_and_x: Tensor | None) -> Tensor:
    of_x = numbers_and_x[-1]
    return total(
        None if of_grad is None else _along_grad(context, of_grad),
        None if of_x is None else _along_x(context, of_x),
    )


elu_backward = define(
    "elu_backward",
    save=_save,
    backward=_backward,
    jvp=_jvp,
    out_admits=torch.can_cast,
)
