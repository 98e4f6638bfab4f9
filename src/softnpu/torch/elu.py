# SPDX-License-Identifier: Apache-2.0
"""elu and elu_ as operators of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from softnpu import _core
from softnpu.torch.fake import like_first
from softnpu.torch.library import Backward, Gradients, define, define_in_place
from softnpu.torch.vmap import elementwise

_ARGUMENTS = "Scalar alpha=1, Scalar scale=1, Scalar input_scale=1"


def _compute(
    self: Tensor,
    alpha: float = 1,
    scale: float = 1,
    input_scale: float = 1,
    out: Tensor | None = None,
    *,
    kernels: Any = _core.kernels,
) -> Tensor:
    return kernels.elu(self, alpha, scale, input_scale, out)


def _in_place(
    self: Tensor,
    alpha: float = 1,
    scale: float = 1,
    input_scale: float = 1,
    *,
    kernels: Any = _core.kernels,
) -> Tensor:
    return kernels.elu_(self, alpha, scale, input_scale)


def _numbers(alpha: float = 1, scale: float = 1, input_scale: float = 1) -> tuple[float, ...]:
    return alpha, scale, input_scale


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    self, *context.arguments = inputs
    context.save_for_backward(self)


def _backward_from(is_result: bool) -> Backward:
    def backward(context: Any, gradient: Tensor) -> Gradients:
        numbers = _numbers(*context.arguments)
        (x,) = context.saved_tensors
        of_self = torch.ops.softnpu.elu_backward(gradient, *numbers, is_result, x)
        return of_self, *[None] * len(context.arguments)

    return backward


elu = define(
    "elu",
    f"Tensor self, {_ARGUMENTS}",
    compute=_compute,
    fake=like_first,
    save=_save,
    backward=_backward_from(is_result=False),
    vmap=elementwise("elu"),
)
elu_ = define_in_place("elu", _ARGUMENTS, compute=_in_place, backward=_backward_from(True))
