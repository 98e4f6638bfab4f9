# SPDX-License-Identifier: Apache-2.0
"""The gradient of the smooth L1 loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from softnpu import _core
from softnpu.arguments import Array, ArrayT, Number, Operand, Reduction

if TYPE_CHECKING:
    from numpy import generic
    from numpy.typing import NDArray


@overload
def smooth_l1_loss_backward(
    grad_out: NDArray[Any] | generic,
    self: Operand,
    target: Operand,
    reduction: Reduction,
    beta: Number,
    *,
    out: None = None,
) -> NDArray[Any]: ...
@overload
def smooth_l1_loss_backward(
    grad_out: ArrayT,
    self: Operand,
    target: Operand,
    reduction: Reduction,
    beta: Number,
    *,
    out: None = None,
) -> ArrayT: ...
@overload
def smooth_l1_loss_backward(
    grad_out: Operand,
    self: Operand,
    target: Operand,
    reduction: Reduction,
    beta: Number,
    *,
    out: ArrayT,
) -> ArrayT: ...


def smooth_l1_loss_backward(
    grad_out: Operand,
    self: Operand,
    target: Operand,
    reduction: Reduction,
    beta: Number,
    *,
    out: Array | None = None,
) -> Array:
    """Gradient of the smooth L1 loss with respect to self.

    With d = self - target the result is grad_out times d / beta where abs(d) < beta, else times the
    sign of d; divided by the number of elements of self broadcast with target if reduction is
    "mean".

    Parameters
    ----------
    grad_out, self, target : array
        float32, float16 or bfloat16, of rank 0 to 8; shapes are broadcast together and data types
        promoted.
    reduction : {0, 1, 2, "none", "mean", "sum"}
        The forward's reduction: 0 is "none", 1 is "mean", 2 is "sum".
    beta : number
        Where the loss turns from quadratic to linear; 0 or more, used as float32.
    out : array, optional
        The broadcast shape; float32, float16 or bfloat16. It may be the same view as an input.

    Returns
    -------
    array
        ``out``, or a new array with the broadcast shape and the promoted data type.
        A new PyTorch tensor has the memory format of grad_out; other new arrays are contiguous.

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
