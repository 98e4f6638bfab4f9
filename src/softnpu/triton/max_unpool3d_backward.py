# SPDX-License-Identifier: Apache-2.0
"""The gradient of max_unpool3d on a GPU: a gather that moves bits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.devices import OPTIONS, as_bits, on_device_of
from softnpu.triton.indices import good, new_note, settle
from softnpu.triton.layouts import index_type, merge, offsets_of, plane_starts, walk

_BLOCK = 1024


@triton.jit
def _gather(
    grad,
    indices,
    out,
    found,
    sizes,
    strides,
    count,
    inner_sizes,
    inner_strides,
    limit,
    INDEX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Iterate over `out`, which is contiguous: offsets are positions in row-major order."""
    at = tl.program_id(0).to(INDEX) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    index = tl.load(indices + offsets_of(at, sizes, strides[0]), mask=inside, other=0)
    is_good = good(index, at, inside, limit, found)
    plane = offsets_of(at, sizes, strides[1])
    place = plane + offsets_of(tl.where(is_good, index, 0).to(INDEX), inner_sizes, inner_strides)
    tl.store(out + at, tl.load(grad + place, mask=inside & is_good, other=0), mask=inside)


def max_unpool3d_backward(
    grad_output: Tensor,
    self: Tensor,
    indices: Tensor,
    output_size: Sequence[int],
    _stride: Sequence[int],
    _padding: Sequence[int],
    out: Tensor,
) -> Tensor:
    """Write the gradient to `out`; as `softnpu.max_unpool3d_backward`.

    Raises
    ------
    IndexError
        An index is out of range; raised later in a block of `deferred_index_checks`.
    """
    grad, written = as_bits(grad_output), as_bits(out)
    limit = math.prod(output_size)
    sizes, strides = merge(grad.shape[-3:], [grad.stride()[-3:]])
    lines = walk(self.shape, (indices, plane_starts(grad, self.shape), written))
    found = new_note(indices)
    with on_device_of(out):
        _gather[(triton.cdiv(lines.elements, _BLOCK),)](
            grad,
            indices,
            written,
            found,
            lines.sizes,
            lines.strides,
            lines.elements,
            sizes,
            strides[0],
            limit,
            INDEX=index_type(grad, indices, written),
            BLOCK=_BLOCK,
            num_warps=4,
            **OPTIONS,
        )
        settle(found, "aclnnMaxUnpool3dBackward", indices, limit)
    return out
