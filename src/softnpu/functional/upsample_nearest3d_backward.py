# SPDX-License-Identifier: Apache-2.0
"""The gradient of nearest-neighbour upsampling in three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Number, Sizes

if TYPE_CHECKING:
    from numpy import ndarray

    from softnpu.arguments import DTypeT, ShapeT


@overload
def upsample_nearest3d_backward(
    grad_out: ndarray[ShapeT, DTypeT],
    output_size: Sizes,
    input_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: None = None,
) -> ndarray[ShapeT, DTypeT]: ...
@overload
def upsample_nearest3d_backward(
    grad_out: ArrayT,
    output_size: Sizes,
    input_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: None = None,
) -> ArrayT: ...
@overload
def upsample_nearest3d_backward(
    grad_out: Array,
    output_size: Sizes,
    input_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: ArrayT,
) -> ArrayT: ...


def upsample_nearest3d_backward(
    grad_out: Array,
    output_size: Sizes,
    input_size: Sizes,
    scales_d: Number | None = 0.0,
    scales_h: Number | None = 0.0,
    scales_w: Number | None = 0.0,
    *,
    format: str = "NCDHW",
    out: Array | None = None,
) -> Array:
    """Gradient of three-dimensional nearest-neighbour upsampling.

    Each element of the result is the sum of the elements of grad_out that the forward copied it to.

    Parameters
    ----------
    grad_out : array
        float32, float16, bfloat16 or float64, of shape (N, C, D, H, W), or (N, D, H, W, C) with
        format "NDHWC"; not empty.
    output_size : sequence or one-dimensional array of 3 int
        D, H, W of grad_out.
    input_size : sequence or one-dimensional array of 5 int
        Shape of the result. With format "NDHWC" it is (N, D, H, W, C) or (N, C, D, H, W): N and C
        of grad_out tell which, and where they fit both it is the former; pass out to have it the
        other way.
    scales_d, scales_h, scales_w : number, optional
        Output size over input size; None is 0. They count only if all three are above 0, and each
        input size times its scale, rounded down, must be the output size then; otherwise the sizes
        decide.
    format : str, optional
        "NDHWC" for arrays whose last axis is the channel; "ND", "NCHW" and the other public formats
        are read as "NCDHW".
    out : array, optional
        Shape input_size, data type of grad_out.

    Returns
    -------
    array
        ``out``, or a new array; its axes are in the order of grad_out's. A new PyTorch tensor has
        the memory format of grad_out (channels-last stays so), other new arrays are contiguous.

    Raises
    ------
    ParamNullptrError
        grad_out, output_size or input_size is None (161001).
    ParamInvalidError
        Data type, format, rank, sizes or scales break the rules above, or the sizes are beyond the
        operator's limits, such as 2**20 for one of them (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnUpsampleNearest3dBackward. PyTorch's counterpart is
    ``aten::upsample_nearest3d_backward``.
    """
    return _core.upsample_nearest3d_backward(
        grad_out, output_size, input_size, scales_d, scales_h, scales_w, format, out
    )
