# SPDX-License-Identifier: Apache-2.0
"""Nearest-neighbour upsampling in three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Number, Sizes

if TYPE_CHECKING:
    from numpy import ndarray

    from softnpu.arguments import DTypeT, ShapeT


@overload
def upsample_nearest3d(
    self: ndarray[ShapeT, DTypeT],
    output_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: None = None,
) -> ndarray[ShapeT, DTypeT]: ...
@overload
def upsample_nearest3d(
    self: ArrayT,
    output_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: None = None,
) -> ArrayT: ...
@overload
def upsample_nearest3d(
    self: Array,
    output_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: ArrayT,
) -> ArrayT: ...


def upsample_nearest3d(
    self: Array,
    output_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: Array | None = None,
) -> Array:
    """Three-dimensional nearest-neighbour upsampling.

    Each element of the result is a copy of one of self, bit for bit. upsample_nearest3d_backward is
    its exact adjoint.

    Parameters
    ----------
    self : array
        float32, float16, bfloat16, float64 or uint8, of shape (N, C, D, H, W), or (N, D, H, W, C)
        with format "NDHWC"; not empty.
    output_size : sequence or one-dimensional array of 3 int
        D, H, W of the result.
    scales_d, scales_h, scales_w : number, optional
        Output size over input size; None is 0. They count only if all three are above 0, and each
        input size times its scale, rounded down, must be the output size then; otherwise the sizes
        decide.
    format : str, optional
        "NDHWC" for arrays whose last axis is the channel; "ND", "NCHW" and the other public formats
        are read as "NCDHW".
    out : array, optional
        Shape of self with output_size as D, H, W; data type of self.

    Returns
    -------
    array
        ``out``, or a new array; its axes are in the order of self's. A new PyTorch tensor has the
        memory format of self (channels-last stays so), other new arrays are contiguous.

    Raises
    ------
    ParamNullptrError
        self or output_size is None (161001).
    ParamInvalidError
        Data type, format, rank, sizes or scales break the rules above, or the sizes are beyond the
        operator's limits, such as 2**20 for one of them (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnUpsampleNearest3d. PyTorch's counterpart is ``aten::upsample_nearest3d``.
    """
    return _core.upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w, format, out)
