# SPDX-License-Identifier: Apache-2.0
"""Calls of softnpu's own functions that take part in autograd, a transform, or a fake tensor mode.

The core hands them over, and `torch.compile` traces what stands here in their place.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from softnpu import _core, functional
from softnpu.torch.library import is_plain
from softnpu.torch.smooth_l1_loss import REDUCTIONS

# The functions whose arguments are not those of the operators.
_FORMATTED = ("upsample_nearest3d", "upsample_nearest3d_backward")


def call(name: str, arguments: tuple[Any, ...]) -> Any:
    """Call ``torch.ops.softnpu.name`` with the arguments of softnpu's function of that name."""
    operator = getattr(torch.ops.softnpu, name)
    if name.endswith("_"):
        return operator(*arguments)
    *given, out = arguments
    if name in _FORMATTED:
        *given, form = given
        if form == "NDHWC":
            return _channels_last(operator, given, out)
    given = [_readable(a) for a in given]
    return operator(*given) if out is None else operator(*given, out=out)


def _readable(argument: Any) -> Any:
    """Bring names of reductions and NumPy arrays to what the operators take."""
    if isinstance(argument, str):
        return REDUCTIONS.get(argument, argument)
    if hasattr(argument, "__array_interface__") and not isinstance(argument, Tensor):
        return torch.as_tensor(argument)
    return argument


def _channels_last(operator: Any, given: list[Any], out: Tensor | None) -> Tensor:
    """Arrays of N, D, H, W, C as tensors of N, C, D, H, W in the same memory."""
    grad, *rest = given
    moved = grad.movedim(-1, 1)
    if len(rest) == 5 and rest[1][1] != grad.shape[-1]:  # input_size, in the order of the array
        n, d, h, w, c = rest[1]
        rest[1] = (n, c, d, h, w)
    if out is not None:
        return operator(moved, *rest, out=out.movedim(-1, 1)).movedim(1, -1)
    return operator(moved, *rest).movedim(1, -1)


def _take_over(name: str, arguments: tuple[Any, ...]) -> Any:
    """Answer the core, which asks for calls that may be PyTorch's business."""
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    recorded = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    elsewhere = any(t.is_cuda for t in tensors)
    if recorded or elsewhere or not is_plain(*tensors):
        return call(name, arguments)
    return NotImplemented


def take_part() -> None:
    """From now on, calls that PyTorch is to see reach it."""
    _core.set_autograd(_take_over)
    for name in functional.__all__:
        function = getattr(functional, name)
        if isinstance(function, FunctionType):
            torch.compiler.allow_in_graph(function)
