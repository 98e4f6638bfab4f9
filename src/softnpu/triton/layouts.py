# SPDX-License-Identifier: Apache-2.0
"""Layouts of tensors for kernels: as few dimensions as possible, the innermost first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

Dims = tuple[int, ...]


class Walk(NamedTuple):
    """The dimensions that a kernel iterates over, the innermost first."""

    sizes: Dims
    strides: tuple[Dims, ...]
    elements: int
    index: Any


def walk(shape: Sequence[int], tensors: Sequence[Tensor]) -> Walk:
    """Merge the dimensions of tensors expanded to `shape`, in the memory order of the last one.

    Parameters
    ----------
    shape : sequence of int
        Not empty.
    tensors : sequence of Tensor
        Each broadcasts to `shape`. The last is the output, if there is one.
    """
    expanded = [tensor.expand(shape) for tensor in tensors]
    strides = [tensor.stride() for tensor in expanded]
    axes = list(range(len(shape)))
    axes.sort(key=lambda axis: [each[axis] for each in reversed(strides)], reverse=True)
    sizes, merged = merge(
        [shape[axis] for axis in axes], [[each[axis] for axis in axes] for each in strides]
    )
    return Walk(sizes, merged, torch.Size(shape).numel(), index_type(*expanded))


def merge(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[Dims, tuple[Dims, ...]]:
    """Merge dimensions that are contiguous in every layout; the innermost first."""
    sizes: list[int] = []
    merged: list[list[int]] = [[] for _ in strides]
    for axis in reversed(range(len(shape))):
        if shape[axis] == 1:
            continue
        pairs = list(zip((each[axis] for each in strides), merged, strict=True))
        if sizes and all(step == inner[-1] * sizes[-1] for step, inner in pairs):
            sizes[-1] *= shape[axis]
            continue
        sizes.append(shape[axis])
        for step, inner in pairs:
            inner.append(step)
    if not sizes:
        return (1,), ((1,),) * len(strides)
    return tuple(sizes), tuple(map(tuple, merged))


def index_type(*tensors: Tensor) -> Any:
    """Find the type of offsets: 64 bits only if needed, because 64-bit divisions are slow."""
    reach = max(
        max(sum((n - 1) * step for n, step in zip(t.shape, t.stride(), strict=True)), t.numel())
        for t in tensors
    )
    return tl.int32 if reach < 2**31 - 2**20 else tl.int64


@triton.jit
def offsets_of(at, sizes, strides):
    """Return the offsets, in elements, of the elements at these positions."""
    offsets = at * 0
    for d in tl.static_range(len(sizes)):
        if d == len(sizes) - 1:
            offsets += at * strides[d]
        else:
            offsets += at % sizes[d] * strides[d]
            at = at // sizes[d]
    return offsets


def plane_starts(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """Return, for every element of `shape`, the offset of its plane in the tensor."""
    return tensor[..., :1, :1, :1].expand(tuple(shape))
