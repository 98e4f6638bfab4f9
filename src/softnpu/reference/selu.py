# SPDX-License-Identifier: Apache-2.0
"""The scaled exponential linear unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .selu_backward import LAMBDA, LAMBDA_ALPHA


def selu(self: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Scaled exponential linear unit, in float64.

    For each element x of ``self``::

        lambda * x                       for x > 0
        lambda * alpha * (exp(x) - 1)    otherwise

    lambda = 1.0507009873554804934193349852946 and lambda * alpha =
    1.7580993408473768599402175208123. NaN is not above 0 and takes the second branch, which keeps
    it. Integers get the same real-valued formula; ``round_to`` then truncates toward zero and
    saturates.

    Parameters
    ----------
    self : array of float32, float16, bfloat16, int32 or int8, any shape

    Returns
    -------
    array of float64, same shape

    Notes
    -----
    Source: the document of aclnnSelu.
    """
    x = self.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(x > 0, LAMBDA * x, LAMBDA_ALPHA * np.expm1(x)))
