# SPDX-License-Identifier: Apache-2.0
"""The gradient of elu as an operator of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from softnpu import _core
from softnpu.torch.fake import like_first
from softnpu.torch.library import Gradients, define
from softnpu.torch.vmap import elementwise


def _compute(
    grad_output: Tensor,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: Tensor,
    out: Tensor | None = None,
    *,
    kernels: Any = _core.kernels,
) -> Tensor:
    return kernels.elu_backward(
        grad_output, alpha, scale, input_scale, is_result, self_or_result, out
    )


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    grad_output, *context.numbers, self_or_result = inputs
    context.save_for_backward(grad_output, self_or_result)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    """Differentiate: linear in grad_output, and in x the slope of elu's derivative."""
    grad_output, x = context.saved_tensors
    _, _, input_scale, is_result = context.numbers
    of_grad, of_x = None, None
    if context.needs_input_grad[0]:
        of_grad = torch.ops.softnpu.elu_backward(gradient, *context.numbers, x)
    if context.needs_input_grad[5]:
        if is_result:
            bend = gradient * grad_output * input_scale
        else:
            bend = gradient * input_scale
            bend = bend * torch.ops.softnpu.elu_backward(grad_output, *context.numbers, x)
        of_x = torch.where(x > 0, torch.zeros_like(bend), bend)
    return of_grad, None, None, None, None, of_x


elu_backward = define(
    "elu_backward",
    "Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
    "Tensor self_or_result",
    compute=_compute,
    fake=like_first,
    save=_save,
    backward=_backward,
    vmap=elementwise("elu_backward"),
)
