# SPDX-License-Identifier: Apache-2.0
"""What the operators do with a batch dimension that `torch.vmap` adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Rule = Callable[..., tuple[Tensor, int]]


def _front(value: Any, dimension: int | None, size: int) -> Any:
    """Bring a tensor's batch dimension to the front, or repeat it where it has none."""
    if not isinstance(value, Tensor):
        return value
    if dimension is None:
        return value.expand(size, *value.shape)
    return value.movedim(dimension, 0)


def elementwise(name: str) -> Rule:
    """Take the batch dimension for one more of the shape that all tensors have."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Tensor, int]:
        batched = [_front(a, d, info.batch_size) for a, d in zip(arguments, in_dims, strict=True)]
        return getattr(torch.ops.softnpu, name)(*batched), 0

    return rule


def one_by_one(name: str) -> Rule:
    """Compute each element of the batch in a call of its own."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Tensor, int]:
        call = getattr(torch.ops.softnpu, name)
        results = [
            call(
                *(
                    a if d is None else a.select(d, i)
                    for a, d in zip(arguments, in_dims, strict=True)
                )
            )
            for i in range(info.batch_size)
        ]
        return torch.stack(results), 0

    return rule


def folded(name: str) -> Rule:
    """Make one of the batch dimension and the tensors' first, and two again."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Tensor, int]:
        batched = [_front(a, d, info.batch_size) for a, d in zip(arguments, in_dims, strict=True)]
        merged = [a.flatten(0, 1) if isinstance(a, Tensor) else a for a in batched]
        result = getattr(torch.ops.softnpu, name)(*merged)
        return result.unflatten(0, (info.batch_size, len(result) // info.batch_size)), 0

    return rule
