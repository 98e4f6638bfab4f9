# SPDX-License-Identifier: Apache-2.0
"""The scaled exponential linear unit, to a new array and in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Operand

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.typing import NDArray

    from softnpu.arguments import DTypeT, ScalarT, ShapeT


@overload
def selu(self: ndarray[ShapeT, DTypeT], *, out: None = None) -> ndarray[ShapeT, DTypeT]: ...
@overload
def selu(self: ScalarT, *, out: None = None) -> NDArray[ScalarT]: ...
@overload
def selu(self: ArrayT, *, out: None = None) -> ArrayT: ...
@overload
def selu(self: Operand, *, out: ArrayT) -> ArrayT: ...


def selu(self: Operand, *, out: Array | None = None) -> Array:
    """Scaled exponential linear unit.

    For each x of self the result is 1.0507... * x where x > 0, else 1.7580... * (exp(x) - 1).
    Integer results are rounded toward zero and saturated.

    Parameters
    ----------
    self : array
        float32, float16, bfloat16, int32 or int8, of any shape.
    out : array, optional
        Shape and data type of self. It may be the same view as self.

    Returns
    -------
    array
        ``out``, or a new array with the shape and data type of self.
        A new PyTorch tensor has the memory format of self; other new arrays are contiguous.

    Raises
    ------
    ParamNullptrError
        self is None (161001).
    ParamInvalidError
        Data types or shapes differ or are not supported (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnSelu. PyTorch's counterpart is ``aten::selu``.
    """
    return _core.selu(self, out)


def selu_(self_ref: ArrayT) -> ArrayT:
    """Scaled exponential linear unit, written over its input.

    What `selu` computes of self_ref takes its place.

    Parameters
    ----------
    self_ref : array
        float32, float16, bfloat16, int32 or int8, of any shape; strided too, but no two elements
        may lie on the same memory.

    Returns
    -------
    array
        ``self_ref``.

    Raises
    ------
    ParamNullptrError
        self_ref is None (161001).
    ParamInvalidError
        The data type is not supported, or self_ref is not writeable (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).

    Notes
    -----
    Source: aclnnInplaceSelu. PyTorch's counterpart is ``aten::selu_``.
    """
    return _core.selu_(self_ref)  # type: ignore[return-value]
