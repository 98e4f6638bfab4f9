# SPDX-License-Identifier: Apache-2.0
"""Calls of softnpu's own functions under autograd, a transform, or a fake tensor mode.

The core passes them to this module, and `torch.compile` traces these functions instead of the core.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from softnpu import _core
from softnpu.errors import AclnnError, with_rule
from softnpu.torch.places import NPU
from softnpu.torch.recording import is_plain, is_recorded
from softnpu.torch.smooth_l1_loss import REDUCTIONS

_NUMBERS = (bool, int, float, complex, torch.SymInt, torch.SymFloat, torch.SymBool)

# The functions whose arguments differ from the operators'.
_FORMATTED = ("upsample_nearest3d", "upsample_nearest3d_backward")


def call(name: str, arguments: tuple[Any, ...]) -> Any:
    """Call ``torch.ops.softnpu.name`` with the arguments of softnpu's function of that name."""
    try:
        return _dispatched(name, arguments)
    except AclnnError:
        raise
    except (RuntimeError, TypeError, ValueError):
        _check_contract(name, arguments)
        raise


def _dispatched(name: str, arguments: tuple[Any, ...]) -> Any:
    operator = getattr(torch.ops.softnpu, name)
    given = list(arguments)
    out = None if name.endswith("_") else given.pop()
    form = given.pop() if name in _FORMATTED else "NCDHW"
    kinds = [str(argument.type) for argument in operator.default._schema.arguments]
    given = [_readable(a, kind) for a, kind in zip(given, kinds, strict=True)]
    if form == "NDHWC":
        return _channels_last(operator, given, out)
    if form != "NCDHW":
        _check_contract(name, arguments)
    return operator(*given) if out is None else operator(*given, out=out)


def _check_contract(name: str, arguments: tuple[Any, ...]) -> None:
    """Raise the contract's error for an invalid call, if its tensors can be read."""
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    if is_plain(*tensors):
        detached = [a.detach() if isinstance(a, Tensor) else a for a in arguments]
        getattr(_core.checks, name)(*detached)


def _readable(argument: Any, kind: str) -> Any:
    """Convert arguments of softnpu's functions to those of an operator's schema."""
    if isinstance(argument, str):
        return REDUCTIONS.get(argument, argument)
    if kind == "Tensor":
        is_array = hasattr(type(argument), "__array_interface__") and not isinstance(
            argument, Tensor
        )
        return torch.as_tensor(argument) if is_array else argument
    if argument is None or isinstance(argument, _NUMBERS):
        return argument
    if kind.startswith(("List", "SymInt[")):
        return list(argument) if isinstance(argument, Iterable) else argument
    if isinstance(argument, Tensor) and argument.requires_grad:
        message = (
            "a number is a tensor that requires grad; the operators have no derivative by their "
            "numbers: pass number.item()"
        )
        raise with_rule(TypeError(message), rule="number-requires-grad")
    if hasattr(argument, "item"):  # a NumPy scalar, or a tensor of rank 0
        return argument.item()
    return float(argument) if hasattr(argument, "__float__") else argument


def _channels_last(operator: Any, given: list[Any], out: Tensor | None) -> Tensor:
    """View arrays of N, D, H, W, C as tensors of N, C, D, H, W."""
    grad, *rest = given
    moved = grad.movedim(-1, 1)
    if len(rest) == 5 and rest[1][1] != grad.shape[-1]:  # input_size has the array's order of axes
        n, d, h, w, c = rest[1]
        rest[1] = (n, c, d, h, w)
    if out is not None:
        return operator(moved, *rest, out=out.movedim(-1, 1)).movedim(1, -1)
    return operator(moved, *rest).movedim(1, -1)


def _take_over(name: str, arguments: tuple[Any, ...]) -> Any:
    """Handle a call that the core passes on because PyTorch may be involved."""
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    differentiable = any(t.requires_grad for t in tensors) or is_recorded(*tensors)
    elsewhere = any(t.is_cuda or t.device.type == NPU for t in tensors)
    proxies = len(tensors) == 0  # of torch.fx
    watched = torch._C._is_any_autocast_enabled() or not is_plain(*tensors)
    if differentiable or elsewhere or proxies or watched:
        return call(name, arguments)
    return NotImplemented


def take_part() -> None:
    """Register this module with the core, which then passes on calls for PyTorch."""
    _core.set_autograd(_take_over)
