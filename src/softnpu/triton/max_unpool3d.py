# SPDX-License-Identifier: Apache-2.0
"""max_unpool3d on a GPU: a scatter that moves bits, in two passes.

Of several elements with the same index, the last wins. The first pass finds it for each element of
the result with an atomic maximum, which does not depend on the order; the second writes the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.devices import OPTIONS, as_bits, on_device_of
from softnpu.triton.indices import good, new_note, settle
from softnpu.triton.layouts import index_type, merge, offsets_of

_BLOCK = 1024


@triton.jit
def _find_winners(
    indices,
    winners,
    found,
    sizes,
    strides,
    count,
    volume,
    limit,
    INDEX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Iterate in row-major order; a plane has `volume` elements of `indices`."""
    at = tl.program_id(0).to(INDEX) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    index = tl.load(indices + offsets_of(at, sizes, strides), mask=inside, other=0)
    is_good = good(index, at, inside, limit, found)
    place = at // volume * limit + tl.where(is_good, index, 0).to(INDEX)
    position = (at % volume).to(winners.dtype.element_ty)
    tl.atomic_max(winners + place, position, mask=inside & is_good, sem="relaxed")


@triton.jit
def _write(
    self,
    winners,
    out,
    planes,
    plane_strides,
    inner_sizes,
    inner_strides,
    count,
    limit,
    INDEX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Iterate over `out` and `winners`, which are contiguous."""
    at = tl.program_id(0).to(INDEX) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    winner = tl.load(winners + at, mask=inside, other=-1)
    is_won = winner >= 0
    place = offsets_of(at // limit, planes, plane_strides)
    place += offsets_of(tl.where(is_won, winner, 0).to(INDEX), inner_sizes, inner_strides)
    tl.store(out + at, tl.load(self + place, mask=is_won, other=0), mask=inside)


def max_unpool3d(
    self: Tensor,
    indices: Tensor,
    output_size: Sequence[int],
    _stride: Sequence[int],
    _padding: Sequence[int],
    out: Tensor,
) -> Tensor:
    """Write the unpooled `self` to `out`; as `softnpu.max_unpool3d`.

    Temporarily allocates a 32-bit integer for each element of `out`, or a 64-bit integer if a plane
    has 2**31 elements.

    Raises
    ------
    IndexError
        An index is out of range; raised later in a block of `deferred_index_checks`.
    """
    read, written = as_bits(self), as_bits(out)
    volume, limit = math.prod(self.shape[-3:]), math.prod(output_size)
    small = volume < 2**31
    winners = torch.full(
        out.shape, -1, dtype=torch.int32 if small else torch.int64, device=out.device
    )
    found = new_note(indices)
    index = index_type(read, indices, written)
    order = merge(indices.shape, [indices.stride()])
    inner = merge(read.shape[-3:], [read.stride()[-3:]])
    planes = merge(read.shape[:-3], [read.stride()[:-3]])
    with on_device_of(out):
        _find_winners[(triton.cdiv(indices.numel(), _BLOCK),)](
            indices,
            winners,
            found,
            order[0],
            order[1][0],
            indices.numel(),
            volume,
            limit,
            INDEX=index,
            BLOCK=_BLOCK,
            num_warps=4,
            **OPTIONS,
        )
        _write[(triton.cdiv(out.numel(), _BLOCK),)](
            read,
            winners,
            written,
            planes[0],
            planes[1][0],
            inner[0],
            inner[1][0],
            out.numel(),
            limit,
            INDEX=index,
            BLOCK=_BLOCK,
            num_warps=4,
            **OPTIONS,
        )
        settle(found, "aclnnMaxUnpool3d", indices, limit)
    return out
