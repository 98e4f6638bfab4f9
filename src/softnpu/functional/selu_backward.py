# SPDX-License-Identifier: Apache-2.0
"""The gradient of selu."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Operand

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.typing import NDArray

    from softnpu.arguments import DTypeT, ScalarT, ShapeT


@overload
def selu_backward(
    grad_output: ndarray[ShapeT, DTypeT], result: Operand, *, out: None = None
) -> ndarray[ShapeT, DTypeT]: ...
@overload
def selu_backward(
    grad_output: ScalarT, result: Operand, *, out: None = None
) -> NDArray[ScalarT]: ...
@overload
def selu_backward(grad_output: ArrayT, result: Operand, *, out: None = None) -> ArrayT: ...
@overload
def selu_backward(grad_output: Operand, result: Operand, *, out: ArrayT) -> ArrayT: ...


def selu_backward(grad_output: Operand, result: Operand, *, out: Array | None = None) -> Array:
    """Gradient of the scaled exponential linear unit, from the forward's output.

    For each y of result it is grad_output times 1.0507... where y >= 0, else times
    (y + 1.7580...). Integer results are rounded toward zero and saturated.

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
        A new PyTorch tensor has the memory format of grad_output; other new arrays are contiguous.

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
