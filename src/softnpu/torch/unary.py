# SPDX-License-Identifier: Apache-2.0
"""Operators of one tensor and numbers, with all derivatives in one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from softnpu.torch.derivatives import keep
from softnpu.torch.library import define, define_in_place
from softnpu.torch.recording import Gradients


def define_unary(name: str, along: Callable[..., Tensor], **rest: Any) -> tuple[Any, Any]:
    """Register an elementwise operator and its in-place form.

    Parameters
    ----------
    name : str
    along : function
        Takes a direction, the input, and the call's numbers; returns the derivative along the
        direction.
    rest
        As `define` takes it.

    Returns
    -------
    torch.ops.softnpu.name, torch.ops.softnpu.name_
    """

    def save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
        x, *context.numbers = inputs
        keep(context, x)

    def jvp(context: Any, of_x: Tensor, *_numbers_have_none: None) -> Tensor:
        (x,) = context.saved_tensors
        return along(of_x, x, *context.numbers)

    def backward(context: Any, gradient: Tensor) -> Gradients:
        return jvp(context, gradient), *[None] * len(context.numbers)

    operator = define(name, save=save, backward=backward, jvp=jvp, **rest)
    return operator, define_in_place(name)
