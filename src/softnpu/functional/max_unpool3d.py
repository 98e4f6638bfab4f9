# SPDX-License-Identifier: Apache-2.0
"""Max unpooling in three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Sizes

if TYPE_CHECKING:
    from numpy import ndarray

    from softnpu.arguments import DTypeT, ShapeT


@overload
def max_unpool3d(
    self: ndarray[ShapeT, DTypeT],
    indices: Array,
    output_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    *,
    out: None = None,
) -> ndarray[ShapeT, DTypeT]: ...
@overload
def max_unpool3d(
    self: ArrayT,
    indices: Array,
    output_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    *,
    out: None = None,
) -> ArrayT: ...
@overload
def max_unpool3d(
    self: Array,
    indices: Array,
    output_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    *,
    out: ArrayT,
) -> ArrayT: ...


def max_unpool3d(
    self: Array,
    indices: Array,
    output_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    *,
    out: Array | None = None,
) -> Array:
    """Three-dimensional max unpooling: zeros, and each element of self at its index.

    Of indices that repeat, the last one in row-major order counts.

    Parameters
    ----------
    self : array
        float32, float16, float64, int8, uint8, int16, int32 or int64, of shape (N, C, D, H, W) or
        (N, D, H, W). Only N may be 0.
    indices : array
        int64 or int32, of the shape of self: positions in the result's flattened D, H, W.
    output_size, stride, padding : sequence of 3 int
        For D, H, W; output_size and stride above 0, and the product of output_size at least that of
        self's D, H, W. stride and padding take part in the checks only.
    out : array, optional
        Shape (N, C, *output_size) or (N, *output_size), data type of self.

    Returns
    -------
    array
        ``out``, or a new array with the data type of self.

    Raises
    ------
    ParamNullptrError
        An argument other than out is None (161001).
    ParamInvalidError
        Data types, shapes or sizes break the rules above (161002).
    IndexOutOfRangeError
        An index is negative, or not below the product of output_size (361001); out is as it was.
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnMaxUnpool3d. PyTorch's counterpart is ``aten::max_unpool3d``.
    """
    return _core.max_unpool3d(self, indices, output_size, stride, padding, out)
