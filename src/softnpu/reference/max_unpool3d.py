# SPDX-License-Identifier: Apache-2.0
"""Max unpooling in three dimensions: a scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .max_unpool3d_backward import require_range


def max_unpool3d(
    self: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    output_size: Sequence[int],
    stride: Sequence[int],  # noqa: ARG001
    padding: Sequence[int],  # noqa: ARG001
) -> npt.NDArray[Any]:
    """Max unpooling, bit for bit.

    With the last three axes flattened into one, ``out`` is 0, but, for each i in order::

        out[..., indices[..., i]] = self[..., i]

    ``stride`` and ``padding`` are not used. Values are moved, not computed, so the result keeps the
    data type of ``self`` instead of becoming float64.

    Parameters
    ----------
    self : array of float32, float16, float64, int8, uint8, int16, int32 or int64
        Shape (N, C, D, H, W) or (N, D, H, W).
    indices : array of int64 or int32, the shape of ``self``
    output_size, stride, padding : 3 integers each

    Returns
    -------
    array of the data type of ``self``, shape (N, C, *output_size) or (N, *output_size)

    Raises
    ------
    IndexError
        An index is below 0 or not below the product of ``output_size``.
    ValueError
        The shapes do not match.

    Notes
    -----
    Source: the document of aclnnMaxUnpool3d.
    """
    if indices.shape != self.shape or self.ndim not in (4, 5) or len(output_size) != 3:
        raise ValueError(
            f"max_unpool3d: self has shape {self.shape} and indices {indices.shape}, with "
            f"output_size {list(output_size)}"
        )
    lead, cells = self.shape[:-3], int(np.prod(output_size))
    require_range("max_unpool3d", indices, cells)
    planes, count = int(np.prod(lead)), int(np.prod(self.shape[-3:]))
    result = np.zeros((planes, cells), self.dtype)
    values, chosen = self.reshape(planes, count), indices.reshape(planes, count)
    for i in range(count):  # in order, so that the last one counts
        result[np.arange(planes), chosen[:, i]] = values[:, i]
    return result.reshape(*lead, *output_size)
