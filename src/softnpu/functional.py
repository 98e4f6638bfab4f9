# SPDX-License-Identifier: Apache-2.0
"""The operators as functions on arrays, with the documented arguments in snake_case.

Arrays are NumPy arrays, PyTorch tensors on the CPU, or any object on the CPU that speaks DLPack;
kinds may be mixed, and `Array` says how they are read. A new result is contiguous, in row-major
order, and of the kind of the first array. ``out`` is written in place and returned; it may be
strided too, must be aligned and writeable, and must not overlap an input, except that elementwise
operators take exactly the same view as an input.

Nothing here takes part in automatic differentiation: a PyTorch tensor that requires grad is read
like any other, and is refused as ``out``. Writing to ``out`` is as invisible to PyTorch as writing
through ``tensor.numpy()``.

New results of 4 MB and more get their memory from a pool; `softnpu.pool` says how to limit it.

What breaks the contract raises a subclass of `softnpu.AclnnError`, with the documented status and
message. TypeError and MemoryError are Python's own: a call does not fit the signature, or memory
runs out. What an array's library raises when it takes a new result over comes through. The GIL is
released while a kernel runs on arrays of 2048 elements or more.
"""

from __future__ import annotations

from typing import Literal, SupportsIndex

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Number, Operand, Sizes, short_cut

__all__ = [
    "Array",
    "elu_backward",
    "max_unpool3d_backward",
    "selu_backward",
    "smooth_l1_loss_backward",
    "upsample_nearest3d_backward",
]


@short_cut(_core.elu_backward)
def elu_backward(
    grad_output: ArrayT,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: bool,
    self_or_result: Operand,
    *,
    out: ArrayT | None = None,
) -> ArrayT:
    """Gradient of the exponential linear unit, from the forward's input or from its output.

    For each x of self_or_result the result is grad_output times scale where x > 0. Elsewhere it is
    grad_output times input_scale * (x + alpha * scale) if is_result, and times
    input_scale * alpha * scale * exp(x * input_scale) if not.

    Parameters
    ----------
    grad_output : array
        float32, float16 or bfloat16, of any shape of rank 0 to 8.
    alpha, scale, input_scale : number
        Real numbers; used as float32. alpha must not be negative when is_result is true.
    is_result : bool
        Whether self_or_result is the forward's output; otherwise it is its input.
    self_or_result : array
        Shape and data type of grad_output.
    out : array, optional
        Shape of grad_output; float16, bfloat16, float32, float64, complex64 or complex128. It may
        be the same view as an input.

    Returns
    -------
    array
        ``out``, or a new array with the shape and data type of grad_output.

    Raises
    ------
    ParamNullptrError
        An argument other than out is None (161001).
    ParamInvalidError
        Data types, shapes, rank or numbers break the rules above (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnEluBackward. PyTorch's counterpart is ``aten::elu_backward``.
    """
    return _core.elu_backward(
        grad_output, alpha, scale, input_scale, is_result, self_or_result, out
    )


@short_cut(_core.selu_backward)
def selu_backward(grad_output: ArrayT, result: Operand, *, out: ArrayT | None = None) -> ArrayT:
    """Gradient of the scaled exponential linear unit, from the forward's output.

    For each y of result it is grad_output times 1.0507... where y >= 0, else times
    (y + 1.7580...). Integers are rounded toward zero and saturated.

    Parameters
    ----------
    grad_output : array
        float32, float16, bfloat16, int32 or int8, of any shape.
    result : array
        The forward's output; shape and data type of grad_output.
    out : array, optional
        Shape and data type of grad_output. It may be the same view as an input.

    Returns
    -------
    array
        ``out``, or a new array with the shape and data type of grad_output.

    Raises
    ------
    ParamNullptrError
        grad_output or result is None (161001).
    ParamInvalidError
        Data types or shapes differ or are not supported (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnSeluBackward.
    """
    return _core.selu_backward(grad_output, result, out)


@short_cut(_core.smooth_l1_loss_backward)
def smooth_l1_loss_backward(
    grad_out: ArrayT,
    self: Operand,
    target: Operand,
    reduction: SupportsIndex | Literal["none", "mean", "sum"],
    beta: Number,
    *,
    out: ArrayT | None = None,
) -> ArrayT:
    """Gradient of the smooth L1 loss with respect to self.

    With d = self - target it is grad_out times d / beta where abs(d) < beta, else times the sign
    of d; divided by the number of elements of self broadcast with target if reduction is "mean".

    Parameters
    ----------
    grad_out, self, target : array
        float32, float16 or bfloat16, of rank 0 to 8; shapes are broadcast together and data types
        promoted.
    reduction : {0, 1, 2, "none", "mean", "sum"}
        The forward's reduction.
    beta : number
        Where the loss turns from quadratic to linear; 0 or more.
    out : array, optional
        The broadcast shape; float32, float16 or bfloat16.

    Returns
    -------
    array
        ``out``, or a new array with the broadcast shape and the promoted data type.

    Raises
    ------
    ParamNullptrError
        grad_out, self or target is None (161001).
    ParamInvalidError
        Data types, shapes, rank, reduction or beta break the rules above (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnSmoothL1LossBackward. PyTorch's counterpart is ``aten::smooth_l1_loss_backward``.
    """
    return _core.smooth_l1_loss_backward(grad_out, self, target, reduction, beta, out)


@short_cut(_core.upsample_nearest3d_backward)
def upsample_nearest3d_backward(
    grad_out: ArrayT,
    output_size: Sizes,
    input_size: Sizes,
    scales_d: Number = 0.0,
    scales_h: Number = 0.0,
    scales_w: Number = 0.0,
    *,
    format: str = "NCDHW",
    out: ArrayT | None = None,
) -> ArrayT:
    """Gradient of three-dimensional nearest-neighbour upsampling.

    Each element of the result is the sum of the elements of grad_out that the forward copied it to.

    Parameters
    ----------
    grad_out : array
        float32, float16, bfloat16 or float64, of rank 5 and not empty.
    output_size : sequence of 3 int
        D, H, W of grad_out.
    input_size : sequence of 5 int
        Shape of the result. With format "NDHWC" it is (N, D, H, W, C) or (N, C, D, H, W): N and C
        of grad_out tell which, and where they fit both it is the former; pass out to have it the
        other way.
    scales_d, scales_h, scales_w : number, optional
        Output size over input size. They count only if all three are above 0; otherwise the sizes
        decide.
    format : str, optional
        "NDHWC" for arrays whose last axis is the channel; any other public format is read as
        "NCDHW".
    out : array, optional
        Shape input_size, data type of grad_out.

    Returns
    -------
    array
        ``out``, or a new array; its axes are in the order of grad_out's.

    Raises
    ------
    ParamNullptrError
        grad_out, output_size or input_size is None (161001).
    ParamInvalidError
        Data type, format, rank, sizes or scales break the rules above (161002).
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


@short_cut(_core.max_unpool3d_backward)
def max_unpool3d_backward(
    grad_output: ArrayT,
    self: Operand,
    indices: Operand,
    output_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    *,
    out: ArrayT | None = None,
) -> ArrayT:
    """Gradient of three-dimensional max unpooling: a gather of grad_output at the indices.

    Parameters
    ----------
    grad_output : array
        float32, float16, float64, int8, uint8, int16, int32 or int64, of shape
        (N, C, *output_size) or (N, *output_size).
    self : array
        The forward's input, of shape (N, C, D, H, W) or (N, D, H, W) and the same data type. Its
        values are not read.
    indices : array
        int64, of the shape of self: positions in grad_output's flattened D, H, W.
    output_size, stride, padding : sequence of 3 int
        For D, H, W. stride and padding take part in the checks only.
    out : array, optional
        Shape of self, data type of grad_output; contiguous.

    Returns
    -------
    array
        ``out``, or a new array with the shape of self.

    Raises
    ------
    ParamNullptrError
        An argument other than out is None (161001).
    ParamInvalidError
        Data types, shapes or sizes break the rules above (161002).
    IndexOutOfRangeError
        An index is negative, or not below the product of output_size (361001); out is unspecified
        then.
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnMaxUnpool3dBackward.
    """
    return _core.max_unpool3d_backward(
        grad_output, self, indices, output_size, stride, padding, out
    )
