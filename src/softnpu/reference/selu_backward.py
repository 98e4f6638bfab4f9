# SPDX-License-Identifier: Apache-2.0
"""The gradient of selu, from the forward's result."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LAMBDA = 1.0507009873554804934193349852946
# lambda * alpha = 1.7580993408473768599402175208123; LOW is its rounding error in float64.
LAMBDA_ALPHA = 1.7580993408473768599402175208123
LAMBDA_ALPHA_LOW = 1.4153519380084477e-17


def selu_backward(
    grad_output: npt.NDArray[Any], result: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Gradient of selu, in float64.

    For each element y of ``result``, the forward's output::

        grad_output * (y + lambda * alpha)  for y < 0
        grad_output * lambda                otherwise

    lambda = 1.0507009873554804934193349852946 and lambda * alpha =
    1.7580993408473768599402175208123. The second of them is kept in two parts, because y cancels
    against it near the forward's lower bound.

    Integers get the same real-valued formula; ``round_to`` then truncates toward zero and
    saturates. The documents compute INT8 in float32: over all 65536 pairs of INT8 no value comes
    near enough to an integer for that to make a difference.

    Parameters
    ----------
    grad_output : array of float32, float16, bfloat16, int32 or int8, any shape
    result : array of the same data type and shape

    Returns
    -------
    array of float64, same shape

    Raises
    ------
    ValueError
        The shapes do not match.

    Notes
    -----
    Source: the document of aclnnSeluBackward. It prints the derivative without the factor lambda;
    with it, this is the gradient of the forward function.
    """
    grad, y = grad_output.astype(np.float64), result.astype(np.float64)
    if grad.shape != y.shape:
        raise ValueError(
            f"selu_backward: result has shape {y.shape}, but grad_output has shape {grad.shape}"
        )
    with np.errstate(all="ignore"):
        slope = np.where(y < 0, (y + LAMBDA_ALPHA) + LAMBDA_ALPHA_LOW, LAMBDA)
        # NaN is not below 0, so the slope above lost it.
        slope = np.where(np.isnan(y), y, slope)
        return np.asarray(grad * slope)
