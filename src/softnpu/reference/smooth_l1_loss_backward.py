# SPDX-License-Identifier: Apache-2.0
"""The gradient of the smooth L1 loss."""

from __future__ import annotations

from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from .smooth_l1_loss import REDUCTIONS


def smooth_l1_loss_backward(
    grad_out: npt.NDArray[Any],
    self: npt.NDArray[Any],
    target: npt.NDArray[Any],
    reduction: int | str,
    beta: SupportsFloat,
) -> npt.NDArray[np.float64]:
    """Gradient of the smooth L1 loss with respect to ``self``, in float64.

    With d = self - target, element by element of the shape that the three arrays broadcast to::

        grad_out * (d / beta if |d| < beta else sign(d)) * norm

    norm is 1/N for the reduction "mean" and 1 otherwise; N counts the elements of ``self``
    broadcast with ``target``. beta is rounded to float32 first. sign(0) is 0, which only beta = 0
    reaches. An infinite beta gives 0 for finite inputs, also where their difference is beyond the
    float32 range: d is a difference of float64 here.

    Parameters
    ----------
    grad_out, self, target : arrays of float32, float16 or bfloat16, shapes that broadcast together
    reduction : 0, 1, 2 or "none", "mean", "sum"
    beta : float, at least 0

    Returns
    -------
    array of float64, the broadcast shape

    Raises
    ------
    ValueError
        The shapes do not broadcast, or the reduction or beta is not one of the above.

    Notes
    -----
    Source: the document of aclnnSmoothL1LossBackward (it writes the case beta = 1).
    """
    code = REDUCTIONS.get(reduction, -1) if isinstance(reduction, str) else reduction
    if code not in (0, 1, 2):
        raise ValueError(f"smooth_l1_loss_backward: reduction is {reduction!r}; expected 0, 1 or 2")
    with np.errstate(all="ignore"):
        width = np.float64(np.float32(beta))
    if not width >= 0:
        raise ValueError(f"smooth_l1_loss_backward: beta is {beta}; expected at least 0")
    grad, a, b = (array.astype(np.float64) for array in (grad_out, self, target))
    with np.errstate(all="ignore"):
        d = a - b
        slope = np.where(np.abs(d) < width, d / width, np.sign(d))
        gradient = np.asarray(grad * slope)
        return gradient / d.size if code == 1 and d.size else gradient
