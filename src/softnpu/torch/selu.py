# SPDX-License-Identifier: Apache-2.0
"""selu and selu_ as operators of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep
from softnpu.torch.library import define, define_in_place
from softnpu.torch.recording import Gradients

ALPHA = 1.6732632423543772848170429916717
LAMBDA = 1.0507009873554804934193349852946


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    keep(context, *inputs)


def _jvp(context: Any, of_self: Tensor) -> Tensor:
    """Differentiate by the input: a 16-bit result is too coarse near selu's lower bound."""
    (x,) = context.saved_tensors
    return torch.ops.softnpu.elu_backward(of_self, ALPHA, LAMBDA, 1.0, False, x)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    return (_jvp(context, gradient),)


selu = define(
    "selu",
    save=_save,
    backward=_backward,
    jvp=_jvp,
)
selu_ = define_in_place("selu")
