# SPDX-License-Identifier: Apache-2.0
"""The gradient of elu."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Flag, Number, Operand

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.typing import NDArray

    from softnpu.arguments import DTypeT, ScalarT, ShapeT


@overload
def elu_backward(
    grad_output: ndarray[ShapeT, DTypeT],
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: Flag,
    self_or_result: Operand,
    *,
    out: None = None,
) -> ndarray[ShapeT, DTypeT]: ...
@overload
def elu_backward(
    grad_output: ScalarT,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: Flag,
    self_or_result: Operand,
    *,
    out: None = None,
) -> NDArray[ScalarT]: ...
@overload
def elu_backward(
    grad_output: ArrayT,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: Flag,
    self_or_result: Operand,
    *,
    out: None = None,
) -> ArrayT: ...
@overload
def elu_backward(
    grad_output: Operand,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: Flag,
    self_or_result: Operand,
    *,
    out: ArrayT,
) -> ArrayT: ...


def elu_backward(
    grad_output: Operand,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: Flag,
    self_or_result: Operand,
    *,
    out: Array | None = None,
) -> Array:
    """Gradient of the exponential linear unit, from the forward's input or from its output.

    For each x of self_or_result the result is grad_output times scale where x > 0. Elsewhere it is
    grad_output times input_scale * (x + alpha * scale) if is_result, and times
    input_scale * alpha * scale * exp(x * input_scale) if not.

    Parameters
    ----------
    grad_output : array
        float32, float16 or bfloat16, of any shape of rank 0 to 8.
    alpha, scale, input_scale : number
        Real numbers; used as float32. alpha must not be below 0 when is_result is true.
    is_result : bool
        Whether self_or_result is the forward's output; otherwise it is its input.
    self_or_result : array
        Shape and data type of grad_output.
    out : array, optional
        Shape of grad_output; float32, float16, bfloat16, float64, complex64 or complex128. It may
        be the same view as an input.

    Returns
    -------
    array
        ``out``, or a new array with the shape and data type of grad_output.
        A new PyTorch tensor has the memory format of grad_output; other new arrays are contiguous.

    Raises
    ------
    ParamNullptrError
        An array other than out, or a number, is None (161001).
    ParamInvalidError
        Data types, shapes, rank, numbers or is_result break the rules above (161002).
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
