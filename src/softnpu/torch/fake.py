# SPDX-License-Identifier: Apache-2.0
"""Empty results for the fake kernels, with the strides that the core gives new tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

import torch
from torch import SymInt, Tensor

Size = int | SymInt


def contiguous_strides(sizes: Sequence[Size]) -> list[Size]:
    """Lay a tensor out in row-major order."""
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step = step * torch.sym_max(size, 1)
    return strides


def empty_like(like: Tensor, sizes: Sequence[Size], dtype: torch.dtype | None = None) -> Tensor:
    """Create a dense tensor of these sizes with another tensor's order of dimensions."""
    return like.new_empty_strided(tuple(sizes), tuple(strides_like(like, sizes)), dtype=dtype)


def strides_like(like: Tensor, sizes: Sequence[Size]) -> list[Size]:
    """Return the strides of a dense tensor with `like`'s order of dimensions."""
    rank = like.dim()
    if rank != len(sizes):
        return contiguous_strides(sizes)
    if any(_known(like.stride(i) <= 0) and not _known(like.size(i) <= 1) for i in range(rank)):
        return contiguous_strides(sizes)

    # A stride that depends on data is at least 1.
    steps = [s if isinstance(s, int) else torch.sym_max(s, 1) for s in like.stride()]

    def compared(i: int, j: int) -> int:
        return _known(steps[i] <= steps[j]) - _known(steps[j] <= steps[i])

    order = sorted(range(rank), key=cmp_to_key(compared))
    dense = contiguous_strides([sizes[i] for i in order])
    strides: list[Size] = [0] * rank
    for place, i in enumerate(order):
        strides[i] = dense[place]
    return strides


def _known(condition: Any) -> bool:
    """Whether a condition on sizes holds; False if they depend on unknown data."""
    if isinstance(condition, bool):
        return condition
    from torch.fx.experimental.symbolic_shapes import guard_or_false  # slow to import

    return guard_or_false(condition)


def like_first(first: Tensor, *_rest: Any) -> Tensor:
    """Create an empty tensor like the first argument: the fake kernel of elementwise operators."""
    return empty_like(first, first.shape)


def contiguous(like: Tensor, sizes: Sequence[Size]) -> Tensor:
    """Create an empty contiguous tensor, for operators whose contract requires it."""
    return like.new_empty_strided(tuple(sizes), tuple(contiguous_strides(sizes)))
