# SPDX-License-Identifier: Apache-2.0
"""elu and elu_ as operators of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep
from softnpu.torch.library import define, define_in_place
from softnpu.torch.recording import Gradients


def _numbers(alpha: float = 1, scale: float = 1, input_scale: float = 1) -> tuple[float, ...]:
    return alpha, scale, input_scale


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    self, *context.arguments = inputs
    keep(context, self)


def _jvp(context: Any, of_self: Tensor, *_numbers_have_none: None) -> Tensor:
    (x,) = context.saved_tensors
    return torch.ops.softnpu.elu_backward(of_self, *_numbers(*context.arguments), False, x)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    return _jvp(context, gradient), *[None] * len(context.arguments)


elu = define(
    "elu",
    save=_save,
    backward=_backward,
    jvp=_jvp,
    out_admits=torch.can_cast,
)
elu_ = define_in_place("elu")
