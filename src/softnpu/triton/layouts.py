# SPDX-License-Identifier: Apache-2.0
"""What kernels see of tensors: as few dimensions as possible, the innermost first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

Dims = tuple[int, ...]


class Walk(NamedTuple):
    """The dimensions that a kernel walks over, the innermost first."""

    sizes: Dims
    strides: tuple[Dims, ...]
    elements: int
    index: Any


def walk(shape: Sequence[int], tensors: Sequence[Tensor]) -> Walk:
    """Merge the dimensions of tensors, all expanded to `shape`, in the order of the last's memory.

    Parameters
    ----------
    shape : sequence of int
        Not empty.
    tensors : sequence of Tensor
        Each broadcasts to `shape`; the last is the one that is written, if any is.
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
    """Make one of dimensions that lie behind each other in every layout; the innermost first."""
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
    """Find the type of offsets: 64 bits only where they are needed, as divisions in it are slow."""
    reach = max(
        max(sum((n - 1) * step for n, step in zip(t.shape, t.stride(), strict=True)), t.numel())
        for t in tensors
    )
    return tl.int32 if reach < 2**31 - 2**20 else tl.int64


@triton.jit
def offsets_of(at, sizes, strides):
    """Find where the elements at these places of a walk lie, in elements from the first."""
    offsets = at * 0
    for d in tl.static_range(len(sizes)):
        if d == len(sizes) - 1:
            offsets += at * strides[d]
        else:
            offsets += at % sizes[d] * strides[d]
            at = at // sizes[d]
    return offsets


def plane_starts(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """Give every element of a plane in `shape` the place where the tensor's plane begins."""
    return tensor[..., :1, :1, :1].expand(tuple(shape))
