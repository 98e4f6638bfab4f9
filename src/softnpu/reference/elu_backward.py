# SPDX-License-Identifier: Apache-2.0
"""The gradient of elu, from the forward's input or from its result."""

from __future__ import annotations

from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt


def elu_backward(
    grad_output: npt.NDArray[Any],
    alpha: SupportsFloat,
    scale: SupportsFloat,
    input_scale: SupportsFloat,
    is_result: bool,
    self_or_result: npt.NDArray[Any],
) -> npt.NDArray[np.float64]:
    """Gradient of elu, in float64.

    For each element x of ``self_or_result``::

        grad_output * scale                                              for x > 0
        grad_output * input_scale * (x + alpha * scale)                  else, if is_result
        grad_output * input_scale * alpha * scale * exp(x * input_scale) else, if not

    The scalars are rounded to float32 first. Products of two float32 numbers are exact in float64,
    so ``alpha * scale`` loses nothing before x cancels against it, and neither does the exponent.
    NaN is not above 0 and takes the branches below the first.

    Parameters
    ----------
    grad_output : array of float32, float16 or bfloat16, any shape
    alpha, scale, input_scale : float
    is_result : bool
        Whether ``self_or_result`` is the forward's result instead of its input.
    self_or_result : array of the same data type and shape

    Returns
    -------
    array of float64, same shape

    Raises
    ------
    ValueError
        The shapes do not match.

    Notes
    -----
    Source: the document of aclnnEluBackward.
    """
    grad, x = grad_output.astype(np.float64), self_or_result.astype(np.float64)
    if grad.shape != x.shape:
        raise ValueError(
            f"elu_backward: self_or_result has shape {x.shape}, but grad_output has shape "
            f"{grad.shape}"
        )
    with np.errstate(all="ignore"):
        a, s, k = (np.float64(np.float32(scalar)) for scalar in (alpha, scale, input_scale))
        slope = k * (x + a * s) if is_result else k * a * s * np.exp(x * k)
        return np.asarray(np.where(x > 0, grad * s, grad * slope))
