# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d on a GPU: moves bits of any type."""

from __future__ import annotations

from collections.abc import Sequence

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.devices import OPTIONS, as_bits, on_device_of
from softnpu.triton.layouts import offsets_of
from softnpu.triton.upsample_axes import (
    axes,
    layout,
    ndcdhw,
    programs,
    rows_first,
    source,
    tile_of,
    up_to,
    whole_ratio,
)


@triton.jit
def _copy(
    self,
    out,
    planes,
    self_planes,
    out_planes,
    plane_count,
    self_strides,
    out_strides,
    small,
    large,
    scale_d,
    scale_h,
    scale_w,
    RATIO: tl.constexpr,
    BLOCK_P: tl.constexpr,
    BLOCK_W: tl.constexpr,
    INDEX: tl.constexpr,
):
    """Write a tile of rows; if every element has RATIO copies, each is read once."""
    d, h, column, plane = tile_of(large, BLOCK_P, BLOCK_W)
    p = plane.to(INDEX) + tl.arange(0, BLOCK_P)
    w = column + tl.arange(0, BLOCK_W)
    z = source(d, scale_d, small[0], large[0])
    y = source(h, scale_h, small[1], large[1])
    self += z.to(INDEX) * self_strides[0] + y.to(INDEX) * self_strides[1]
    out += d.to(INDEX) * out_strides[0] + h.to(INDEX) * out_strides[1]
    self += offsets_of(p, planes, self_planes)[:, None]
    is_plane = (p < plane_count)[:, None]
    if RATIO > 0:
        x = column // RATIO + tl.arange(0, BLOCK_W // RATIO)
        mask = is_plane & (x < small[2])[None, :]
        once = tl.load(self + (x.to(INDEX) * self_strides[2])[None, :], mask=mask)
        several = tl.broadcast_to(once[:, :, None], (BLOCK_P, BLOCK_W // RATIO, RATIO))
        value = tl.reshape(several, (BLOCK_P, BLOCK_W))
    else:
        x = source(w, scale_w, small[2], large[2])
        value = tl.load(self + (x.to(INDEX) * self_strides[2])[None, :], mask=is_plane)
    place = offsets_of(p, planes, out_planes)[:, None] + (w.to(INDEX) * out_strides[2])[None, :]
    tl.store(out + place, value, mask=is_plane & (w < large[2])[None, :])


def upsample_nearest3d(
    self: Tensor,
    _output_size: Sequence[int],
    scales_d: float | None,
    scales_h: float | None,
    scales_w: float | None,
    format: str,
    out: Tensor,
) -> Tensor:
    """Write upsampled `self` to `out`; as `softnpu.upsample_nearest3d`."""
    read, written = (as_bits(ndcdhw(tensor, format)) for tensor in (self, out))
    d, h, w = axes(read, written, (scales_d, scales_h, scales_w))
    planes = layout(read, written)
    count = read.shape[0] * read.shape[1]
    if rows_first(written):
        block_w = up_to(128, w.large)
        block_p = up_to(512 // block_w, count)
    else:
        block_p = up_to(64, count)
        block_w = up_to(1024 // block_p, w.large)
    ratio = whole_ratio(w)
    repeats = rows_first(written) and read.stride(4) == 1 and 1 < ratio <= block_w
    with on_device_of(out):
        _copy[programs(written, block_p, block_w)](
            read,
            written,
            planes.sizes,
            planes.small,
            planes.large,
            count,
            read.stride()[2:],
            written.stride()[2:],
            tuple(read.shape[2:]),
            tuple(written.shape[2:]),
            d.scale,
            h.scale,
            w.scale,
            RATIO=ratio if repeats else 0,
            BLOCK_P=block_p,
            BLOCK_W=block_w,
            INDEX=planes.index,
            num_warps=4,
            **OPTIONS,
        )
    return out
