# SPDX-License-Identifier: Apache-2.0
"""The exponential linear unit, to a new array and in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Number, Operand

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.typing import NDArray

    from softnpu.arguments import DTypeT, ScalarT, ShapeT


@overload
def elu(
    self: ndarray[ShapeT, DTypeT],
    alpha: Number = 1.0,
    scale: Number = 1.0,
    input_scale: Number = 1.0,
    *,
    out: None = None,
) -> ndarray[ShapeT, DTypeT]: ...
@overload
def elu(
    self: ScalarT,
    alpha: Number = 1.0,
    scale: Number = 1.0,
    input_scale: Number = 1.0,
    *,
    out: None = None,
) -> NDArray[ScalarT]: ...
@overload
def elu(
    self: ArrayT,
    alpha: Number = 1.0,
    scale: Number = 1.0,
    input_scale: Number = 1.0,
    *,
    out: None = None,
) -> ArrayT: ...
@overload
def elu(
    self: Operand,
    alpha: Number = 1.0,
    scale: Number = 1.0,
    input_scale: Number = 1.0,
    *,
    out: ArrayT,
) -> ArrayT: ...


def elu(
    self: Operand,
    alpha: Number = 1.0,
    scale: Number = 1.0,
    input_scale: Number = 1.0,
    *,
    out: Array | None = None,
) -> Array:
    """Exponential linear unit.

    For each x of self the result is scale * x where x > 0, else
    alpha * scale * (exp(x * input_scale) - 1), which is accurate near 0, too.

    Parameters
    ----------
    self : array
        float32, float16 or bfloat16, of any shape of rank 0 to 8.
    alpha, scale, input_scale : number
        Real numbers; used as float32.
    out : array, optional
        Shape of self; float32, float16, bfloat16, float64, complex64 or complex128. It may be the
        same view as self.

    Returns
    -------
    array
        ``out``, or a new array with the shape and data type of self.
        A new PyTorch tensor has the memory format of self; other new arrays are contiguous.

    Raises
    ------
    ParamNullptrError
        self, or a number, is None (161001).
    ParamInvalidError
        Data types, shapes, rank or numbers break the rules above (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnElu. PyTorch's counterpart is ``aten::elu``.
    """
    return _core.elu(self, alpha, scale, input_scale, out)


def elu_(
    self_ref: ArrayT, alpha: Number = 1.0, scale: Number = 1.0, input_scale: Number = 1.0
) -> ArrayT:
    """Exponential linear unit, written over its input.

    What `elu` computes of self_ref takes its place.

    Parameters
    ----------
    self_ref : array
        float32, float16 or bfloat16, of any shape of rank 0 to 8; strided too, but no two elements
        may lie on the same memory.
    alpha, scale, input_scale : number
        Real numbers; used as float32.

    Returns
    -------
    array
        ``self_ref``.

    Raises
    ------
    ParamNullptrError
        self_ref, or a number, is None (161001).
    ParamInvalidError
        Data type, rank or numbers break the rules above, or self_ref is not writeable (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).

    Notes
    -----
    Source: aclnnInplaceElu. PyTorch's counterpart is ``aten::elu_``.
    """
    return _core.elu_(self_ref, alpha, scale, input_scale)  # type: ignore[return-value]
