# SPDX-License-Identifier: Apache-2.0
"""The smooth L1 loss."""

from __future__ import annotations

import math
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def smooth_l1_loss(
    self: npt.NDArray[Any],
    target: npt.NDArray[Any],
    reduction: int | str,
    beta: SupportsFloat,
) -> npt.NDArray[np.float64]:
    """Smooth L1 loss of ``self`` and ``target``, in float64.

    With d = self - target, element by element of the shape that the two arrays broadcast to::

        0.5 * d**2 / beta if |d| < beta else |d| - 0.5 * beta

    The reduction "mean" divides the sum of these by their number, which gives NaN where there are
    none. beta is rounded to float32 first. d is a difference of float64: it may be beyond the
    float32 range.

    Parameters
    ----------
    self, target : arrays of float32, float16 or bfloat16, shapes that broadcast together
    reduction : 0, 1, 2 or "none", "mean", "sum"
    beta : float, at least 0

    Returns
    -------
    array of float64, the broadcast shape, or of rank 0 for "mean" and "sum"

    Raises
    ------
    ValueError
        The shapes do not broadcast, or the reduction or beta is not one of the above.

    Notes
    -----
    Source: the document of aclnnSmoothL1Loss.
    """
    code = REDUCTIONS.get(reduction, -1) if isinstance(reduction, str) else reduction
    if code not in (0, 1, 2):
        raise ValueError(f"smooth_l1_loss: reduction is {reduction!r}; expected 0, 1 or 2")
    with np.errstate(all="ignore"):
        width = np.float64(np.float32(beta))
    if not width >= 0:
        raise ValueError(f"smooth_l1_loss: beta is {beta}; expected at least 0")
    a, b = self.astype(np.float64), target.astype(np.float64)
    with np.errstate(all="ignore"):
        d = np.abs(a - b)
        loss = np.asarray(np.where(d < width, 0.5 * d * d / width, d - 0.5 * width))
        if code == 0:
            return loss
        total = np.asarray(math.fsum(loss.ravel()) if np.isfinite(loss).all() else loss.sum())
        return np.asarray(total / loss.size) if code == 1 else total
