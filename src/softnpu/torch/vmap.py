# SPDX-License-Identifier: Apache-2.0
"""The operators' rules for batch dimensions of `torch.vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Rule = Callable[..., tuple[Tensor, int]]

MOST_DIMENSIONS = 8


def _front(value: Any, dimension: int | None, size: int) -> Any:
    """Move a tensor's batch dimension to the front, or add one by repetition."""
    if not isinstance(value, Tensor):
        return value
    if dimension is None:
        return value.expand(size, *value.shape)
    return value.movedim(dimension, 0)


def elementwise(name: str) -> Rule:
    """Treat the batch dimension as one more dimension of the common shape."""
    return _at_once(name, MOST_DIMENSIONS)


def folded(name: str) -> Rule:
    """Merge the batch dimension with the tensors' first dimension, and split it afterwards."""
    return _at_once(name, 0)


def _at_once(name: str, rank: int) -> Rule:
    """Compute a batch in one call; merge its dimension if a tensor would exceed the rank."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Tensor, int]:
        call = getattr(torch.ops.softnpu, name)
        if info.batch_size == 0:
            return of_no_samples(call, in_dims, arguments)
        batched = [_front(a, d, info.batch_size) for a, d in zip(arguments, in_dims, strict=True)]
        first = next(a for a in batched if isinstance(a, Tensor))
        if first.dim() <= rank:
            return call(*batched), 0
        result = call(*(a.flatten(0, 1) if isinstance(a, Tensor) else a for a in batched))
        return result.unflatten(0, (info.batch_size, first.shape[1])), 0

    return rule


def one_by_one(name: str) -> Rule:
    """Compute each element of the batch in a separate call."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Tensor, int]:
        call = getattr(torch.ops.softnpu, name)
        if info.batch_size == 0:
            return of_no_samples(call, in_dims, arguments)
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


def of_no_samples(
    call: Any, in_dims: tuple[int | None, ...], arguments: tuple[Any, ...]
) -> tuple[Tensor, int]:
    """Compute a sample of zeros to find the result's shape for an empty batch."""
    sample = [
        a.new_zeros(a.movedim(d, 0).shape[1:]) if isinstance(d, int) else a
        for a, d in zip(arguments, in_dims, strict=True)
    ]
    return call(*sample).unsqueeze(0)[:0], 0
