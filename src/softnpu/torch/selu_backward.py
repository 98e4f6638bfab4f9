# SPDX-License-Identifier: Apache-2.0
"""The gradient of selu as an operator of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep, total
from softnpu.torch.library import define
from softnpu.torch.recording import Gradients


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    keep(context, *inputs)


def _along_grad(context: Any, direction: Tensor) -> Tensor:
    """Differentiate by grad_output, in which the operator is linear."""
    _, result = context.saved_tensors
    return torch.ops.softnpu.selu_backward(direction, result)


def _along_result(context: Any, direction: Tensor) -> Tensor:
    """Differentiate by the result, in which the slope is linear below 0."""
    grad_output, result = context.saved_tensors
    bend = direction * grad_output
    return torch.where(result >= 0, torch.zeros_like(bend), bend)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    of_grad = _along_grad(context, gradient) if context.needs_input_grad[0] else None
    of_result = _along_result(context, gradient) if context.needs_input_grad[1] else None
    return of_grad, of_result


def _jvp(context: Any, of_grad: Tensor | None, of_result: Tensor | None) -> Tensor:
    return total(
        None if of_grad is None else _along_grad(context, of_grad),
        None if of_result is None else _along_result(context, of_result),
    )


selu_backward = define(
    "selu_backward",
    save=_save,
    backward=_backward,
    jvp=_jvp,
)
