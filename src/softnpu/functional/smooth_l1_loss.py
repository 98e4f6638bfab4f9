# SPDX-License-Identifier: Apache-2.0
"""The smooth L1 loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Number, Operand, Reduction

if TYPE_CHECKING:
    from numpy import generic
    from numpy.typing import NDArray


@overload
def smooth_l1_loss(
    self: NDArray[Any] | generic,
    target: Operand,
    reduction: Reduction = "mean",
    beta: Number = 1.0,
    *,
    out: None = None,
) -> NDArray[Any]: ...
@overload
def smooth_l1_loss(
    self: ArrayT,
    target: Operand,
    reduction: Reduction = "mean",
    beta: Number = 1.0,
    *,
    out: None = None,
) -> ArrayT: ...
@overload
def smooth_l1_loss(
    self: Operand,
    target: Operand,
    reduction: Reduction = "mean",
    beta: Number = 1.0,
    *,
    out: ArrayT,
) -> ArrayT: ...


def smooth_l1_loss(
    self: Operand,
    target: Operand,
    reduction: Reduction = "mean",
    beta: Number = 1.0,
    *,
    out: Array | None = None,
) -> Array:
    """Smooth L1 loss of self and target.

    With d = self - target, the loss of an element is 0.5 * d**2 / beta where abs(d) < beta, else
    abs(d) - 0.5 * beta. The result has each of them, or their mean, or their sum, which are
    accurate for any number of elements, and the same bits for any layout and number of threads.

    Parameters
    ----------
    self, target : array
        float32, float16 or bfloat16, of rank 0 to 8; shapes are broadcast together and data types
        promoted.
    reduction : {0, 1, 2, "none", "mean", "sum"}
        0 is "none", 1 is "mean", 2 is "sum". The mean of nothing is NaN, the sum of nothing 0.
    beta : number
        Where the loss turns from quadratic to linear; 0 or more, used as float32.
    out : array, optional
        The broadcast shape for "none", else the shape ``()`` or ``(1,)``; float32, float16 or
        bfloat16. It may be the same view as an input.

    Returns
    -------
    array
        ``out``, or a new array of the promoted data type, with the broadcast shape for "none", else
        of rank 0.
        A new PyTorch tensor has the memory format of self; other new arrays are contiguous.

    Raises
    ------
    ParamNullptrError
        self or target is None (161001).
    ParamInvalidError
        Data types, shapes, rank, reduction or beta break the rules above (161002).
    AclnnError
        SOFTNPU_SOC names no product (100000), or one that does not have the operator (561003).
    MemoryError
        There is not enough memory.

    Notes
    -----
    Source: aclnnSmoothL1Loss. PyTorch's counterpart is ``aten::smooth_l1_loss``.
    """
    return _core.smooth_l1_loss(self, target, reduction, beta, out)
