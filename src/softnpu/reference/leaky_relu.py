# SPDX-License-Identifier: Apache-2.0
"""The rectified linear unit with a slope below 0."""

from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt


def leaky_relu(
    self: npt.NDArray[Any], negative_slope: SupportsFloat = 0.01
) -> npt.NDArray[np.float64]:
    """Leaky rectified linear unit, in float64: x where x > 0, else negative_slope * x.

    Parameters
    ----------
    self : array of float32, float16 or bfloat16, any shape
    negative_slope : float, rounded to float32

    Returns
    -------
    array of float64, same shape

    Notes
    -----
    Source: aclnnLeakyRelu.
    """
    x = self.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(x > 0, x, np.float64(np.float32(negative_slope)) * x))
