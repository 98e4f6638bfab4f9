# SPDX-License-Identifier: Apache-2.0
"""The gradient of selu as an operator of PyTorch's."""

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
    result: Tensor,
    out: Tensor | None = None,
    *,
    kernels: Any = _core.kernels,
) -> Tensor:
    return kernels.selu_backward(grad_output, result, out)


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    context.save_for_backward(*inputs)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    grad_output, result = context.saved_tensors
    of_grad, of_result = None, None
    if context.needs_input_grad[0]:
        of_grad = torch.ops.softnpu.selu_backward(gradient, result)
    if context.needs_input_grad[1]:
        bend = gradient * grad_output
        of_result = torch.where(result >= 0, torch.zeros_like(bend), bend)
    return of_grad, of_result


selu_backward = define(
    "selu_backward",
    "Tensor grad_output, Tensor result",
    compute=_compute,
    fake=like_first,
    save=_save,
    backward=_backward,
    vmap=elementwise("selu_backward"),
)
