# SPDX-License-Identifier: Apache-2.0
"""The exponential linear unit."""

from __future__ import annotations

from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt


def elu(
    self: npt.NDArray[Any],
    alpha: SupportsFloat = 1.0,
    scale: SupportsFloat = 1.0,
    input_scale: SupportsFloat = 1.0,
) -> npt.NDArray[np.float64]:
    """Exponential linear unit, in float64.

    For each element x of ``self``::

        scale * x                                     for x > 0
        alpha * scale * (exp(x * input_scale) - 1)    else

    The scalars are rounded to float32 first; products of two float32 numbers are exact in float64.
    NaN is not above 0 and takes the second branch, which keeps it.

    Parameters
    ----------
    self : array of float32, float16 or bfloat16, any shape
    alpha, scale, input_scale : float

    Returns
    -------
    array of float64, same shape

    Notes
    -----
    Source: the document of aclnnElu.
    """
    x = self.astype(np.float64)
    with np.errstate(all="ignore"):
        a, s, k = (np.float64(np.float32(scalar)) for scalar in (alpha, scale, input_scale))
        return np.asarray(np.where(x > 0, s * x, a * s * np.expm1(x * k)))
