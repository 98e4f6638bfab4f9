# SPDX-License-Identifier: Apache-2.0
"""What all fused operators check."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

Function = TypeVar("Function", bound=Callable[..., Any])


def fused(function: Function) -> Function:
    """Refuse tensors that are not on the device, and compute in the same types under autocast."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        for leaf in tree_leaves((arguments, options)):
            if isinstance(leaf, Tensor) and leaf.device.type != "npu":
                raise RuntimeError(
                    "Expected NPU tensor, please check whether the input tensor device is "
                    f"correct: {function.__name__} got one on {leaf.device}"
                )
        with torch.autocast("npu", enabled=False):
            return function(*arguments, **options)

    return call  # type: ignore[return-value]


def refuse(function: str, **options: Any) -> None:
    """Raise for options that softnpu does not have: those that are not None."""
    for name, value in options.items():
        if value is not None:
            raise NotImplementedError(f"softnpu's {function} has no {name}; got {value!r}")


def wide(tensor: Tensor) -> Tensor:
    """Convert to the type in which is computed."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()
