# SPDX-License-Identifier: Apache-2.0
"""The gradient of upsample_nearest3d on a GPU: every element sums the gradients of its copies."""

from __future__ import annotations

from collections.abc import Sequence

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.devices import OPTIONS, on_device_of
from softnpu.triton.elementwise import TYPES
from softnpu.triton.layouts import offsets_of
from softnpu.triton.rounding import to_type, widened
from softnpu.triton.upsample_axes import (
    axes,
    layout,
    longest_range,
    ndcdhw,
    programs,
    rows_first,
    start,
    tile_of,
    up_to,
    whole_ratio,
)


@triton.jit
def _sum_of_two(a, b):
    return a + b


@triton.jit
def _added(total, lost, terms, EXACT: tl.constexpr):
    """Add terms; for DOUBLE, accumulate the rounding errors."""
    after = total + terms
    if EXACT:
        seen = after - total
        lost += (total - (after - seen)) + (terms - seen)
    return after, lost


@triton.jit
def _total(total, lost, EXACT: tl.constexpr):
    """Add up along the last axis; -0 and non-finite values have no rounding error."""
    whole = tl.reduce(total, 2, _sum_of_two)
    if EXACT:
        rest = tl.reduce(lost, 2, _sum_of_two)
        whole = tl.where((rest == 0) | (rest != rest), whole, whole + rest)
    return whole


@triton.jit
def _gather(
    grad,
    out,
    planes,
    grad_planes,
    out_planes,
    plane_count,
    grad_strides,
    out_strides,
    large,
    small,
    scale_d,
    scale_h,
    scale_w,
    WHOLE: tl.constexpr,
    LONGEST: tl.constexpr,
    BLOCK_P: tl.constexpr,
    BLOCK_W: tl.constexpr,
    BLOCK_X: tl.constexpr,
    RESULT: tl.constexpr,
    INDEX: tl.constexpr,
):
    """Add up boxes for a tile in float64, starting at -0, which changes no sum."""
    EXACT: tl.constexpr = RESULT == tl.float64
    d, h, column, plane = tile_of(small, BLOCK_P, BLOCK_W)
    p = plane.to(INDEX) + tl.arange(0, BLOCK_P)
    w = column + tl.arange(0, BLOCK_W)
    begin_d, end_d = start(d, scale_d, large[0]), start(d + 1, scale_d, large[0])
    begin_h, end_h = start(h, scale_h, large[1]), start(h + 1, scale_h, large[1])
    begin_w, end_w = start(w, scale_w, large[2]), start(w + 1, scale_w, large[2])
    grad += offsets_of(p, planes, grad_planes)[:, None]
    is_plane = (p < plane_count)[:, None]
    total = tl.full((BLOCK_P, BLOCK_W, BLOCK_X), -0.0, tl.float64)
    lost = tl.zeros((BLOCK_P, BLOCK_W, BLOCK_X), tl.float64)
    zero = d.to(INDEX) * 0  # sets the type of products with strides
    for z in range(begin_d, end_d):
        for y in range(begin_h, end_h):
            row = grad + ((zero + z) * grad_strides[0] + (zero + y) * grad_strides[1])
            if WHOLE:  # the tile's part of a row, in one piece
                at = column * BLOCK_X + tl.arange(0, BLOCK_W * BLOCK_X)
                mask = is_plane & (at < large[2])[None, :]
                terms = tl.load(row + at[None, :] * grad_strides[2], mask=mask, other=-0.0)
                boxes = tl.reshape(widened(terms, tl.float64), (BLOCK_P, BLOCK_W, BLOCK_X))
                total, lost = _added(total, lost, boxes, EXACT)
            else:
                for x in range(0, LONGEST, BLOCK_X):
                    at = begin_w[:, None] + (x + tl.arange(0, BLOCK_X))[None, :]
                    mask = is_plane[:, :, None] & (at < end_w[:, None])[None, :, :]
                    terms = tl.load(
                        row[:, :, None] + (at.to(INDEX) * grad_strides[2])[None, :, :],
                        mask=mask,
                        other=-0.0,
                    )
                    total, lost = _added(total, lost, widened(terms, tl.float64), EXACT)
    sums = _total(total, lost, EXACT)
    is_empty = (begin_d >= end_d) | (begin_h >= end_h) | (begin_w >= end_w)[None, :]
    value = to_type(tl.where(is_empty, 0.0, sums), RESULT, RESULT)
    out += d.to(INDEX) * out_strides[0] + h.to(INDEX) * out_strides[1]
    place = offsets_of(p, planes, out_planes)[:, None] + (w.to(INDEX) * out_strides[2])[None, :]
    tl.store(out + place, value, mask=is_plane & (w < small[2])[None, :])


def upsample_nearest3d_backward(
    grad_out: Tensor,
    _output_size: Sequence[int],
    _input_size: Sequence[int],
    scales_d: float | None,
    scales_h: float | None,
    scales_w: float | None,
    format: str,
    out: Tensor,
) -> Tensor:
    """Write the gradient to `out`; as `softnpu.upsample_nearest3d_backward`."""
    grad, written = ndcdhw(grad_out, format), ndcdhw(out, format)
    d, h, w = axes(written, grad, (scales_d, scales_h, scales_w))
    planes = layout(written, grad)
    ratio, longest = whole_ratio(w), longest_range(w)
    in_rows = rows_first(grad)
    whole = in_rows and grad.stride(4) == 1 and 0 < ratio <= 64
    # Short ranges waste few lanes; long ranges are summed by several lanes.
    block_x = ratio if whole else up_to(64, longest) if in_rows and longest > 8 else 1
    count = grad.shape[0] * grad.shape[1]
    if in_rows:
        block_w = up_to(64 if block_x <= 4 else 256 // block_x, w.small)
        block_p = up_to(256 // (block_w * max(block_x // 4, 1)), count)
    else:
        block_p = up_to(64, count)
        block_w = up_to(1024 // block_p, w.small)
    with on_device_of(out):
        _gather[programs(written, block_p, block_w)](
            grad,
            written,
            planes.sizes,
            planes.large,
            planes.small,
            count,
            grad.stride()[2:],
            written.stride()[2:],
            tuple(grad.shape[2:]),
            tuple(written.shape[2:]),
            d.scale,
            h.scale,
            w.scale,
            WHOLE=whole,
            LONGEST=longest if longest <= 8 else triton.next_power_of_2(longest),
            BLOCK_P=block_p,
            BLOCK_W=block_w,
            BLOCK_X=block_x,
            RESULT=TYPES[out.dtype],
            INDEX=planes.index,
            num_warps=2 if block_p * block_w <= 256 else 4,
            **OPTIONS,
        )
    return out
