# SPDX-License-Identifier: Apache-2.0
"""The axes of nearest upsampling, for both kernels.

A plane has fixed n and c. A program writes one row, with fixed d and h, for a tile of planes and
columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.layouts import Dims, index_type, merge


class Axis(NamedTuple):
    """One of D, H and W."""

    small: int
    large: int
    scale: float  # a float32 number


class Layout(NamedTuple):
    """The layout of planes in both tensors, the innermost first, and the type of offsets."""

    sizes: Dims
    small: Dims
    large: Dims
    index: Any


def axes(small: Tensor, large: Tensor, scales: Sequence[float | None]) -> tuple[Axis, ...]:
    """Return the scales of D, H and W, in float32 arithmetic as in the contract."""
    given = all(scale is not None and scale > 0 for scale in scales)
    found = []
    for i, scale in enumerate(scales, 2):
        sizes = small.shape[i], large.shape[i]
        step = np.float32(scale) if given else np.float32(sizes[1]) / np.float32(sizes[0])
        found.append(Axis(*sizes, float(step)))
    return tuple(found)


def layout(small: Tensor, large: Tensor) -> Layout:
    """Merge N and C if both tensors allow it."""
    sizes, strides = merge(small.shape[:2], [tensor.stride()[:2] for tensor in (small, large)])
    return Layout(sizes, strides[0], strides[1], index_type(small, large))


def ndcdhw(tensor: Tensor, format: str) -> Tensor:
    """View a tensor as N, C, D, H, W."""
    return tensor.movedim(-1, 1) if format == "NDHWC" else tensor


@lru_cache(maxsize=256)
def longest_range(axis: Axis) -> int:
    """Return the maximum number of copies of an element."""
    products = np.arange(axis.small + 1, dtype=np.float32) * np.float32(axis.scale)
    starts = np.minimum(np.ceil(products).astype(np.float64), axis.large)
    return int(np.diff(starts).max())


def whole_ratio(axis: Axis) -> int:
    """Return the number of copies if it is the same for every element, else 0."""
    ratio = axis.large // axis.small
    whole = axis.scale == ratio and ratio * axis.small == axis.large
    return ratio if whole and is_power_of_2(ratio) else 0


def is_power_of_2(number: int) -> bool:
    """Whether a block of a kernel can have this size."""
    return number & (number - 1) == 0


def rows_first(tensor: Tensor) -> bool:
    """Whether adjacent elements in memory are adjacent along W, not in different planes."""
    return tensor.stride(4) <= tensor.stride(1) or tensor.shape[0] * tensor.shape[1] == 1


def up_to(limit: int, size: int) -> int:
    """Choose a block size for an axis: a power of two, at most `limit`, also a power of two."""
    return min(int(triton.next_power_of_2(size)), max(limit, 1))


@triton.jit
def start(i, scale, large):
    """Return the first copy of element i."""
    return tl.minimum(tl.ceil(i.to(tl.float32) * scale), large).to(tl.int32)


@triton.jit
def source(z, scale, small, large):
    """Return the source of element z: the last element whose copies begin at or before z."""
    i = tl.floor(z.to(tl.float32) / scale)
    i = tl.minimum(i, small - 1).to(tl.int32)
    i = tl.where(start(i, scale, large) > z, i - 1, i)
    i = tl.where(start(i + 1, scale, large) <= z, i + 1, i)
    return tl.minimum(i, small - 1)


@triton.jit
def tile_of(sizes, BLOCK_P: tl.constexpr, BLOCK_W: tl.constexpr):
    """Return d, h, the first column and the first plane of this program's tile."""
    pid = tl.program_id(0)
    blocks = (sizes[2] + BLOCK_W - 1) // BLOCK_W
    row = pid // blocks
    rows = sizes[0] * sizes[1]
    d = row % rows // sizes[1]
    h = row % sizes[1]
    return d, h, pid % blocks * BLOCK_W, row // rows * BLOCK_P


def programs(tensor: Tensor, block_p: int, block_w: int) -> tuple[int]:
    """Count the tiles of the output."""
    n, c, d, h, w = tensor.shape
    return (triton.cdiv(n * c, block_p) * d * h * triton.cdiv(w, block_w),)
