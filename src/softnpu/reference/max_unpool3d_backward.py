# SPDX-License-Identifier: Apache-2.0
"""The gradient of max unpooling in three dimensions: a gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def max_unpool3d_backward(
    grad_output: npt.NDArray[Any],
    self: npt.NDArray[Any],
    indices: npt.NDArray[np.int64],
    output_size: Sequence[int],
    stride: Sequence[int],  # noqa: ARG001
    padding: Sequence[int],  # noqa: ARG001
) -> npt.NDArray[Any]:
    """Gradient of max unpooling, bit for bit.

    With the last three axes flattened into one::

        out[..., i] = grad_output[..., indices[..., i]]

    Only the shape of ``self`` is used; ``stride`` and ``padding`` are not. Values are moved, not
    computed, so the result keeps the data type of ``grad_output`` instead of becoming float64.

    Parameters
    ----------
    grad_output : array of float32, float16, float64, int8, uint8, int16, int32 or int64
        Shape (N, C, *output_size) or (N, *output_size).
    self : array of the same data type, shape (N, C, D, H, W) or (N, D, H, W)
    indices : array of int64, the shape of ``self``
    output_size, stride, padding : 3 integers each

    Returns
    -------
    array of the data type of ``grad_output``, the shape of ``self``

    Raises
    ------
    IndexError
        An index is below 0 or not below the product of ``output_size``.
    ValueError
        The shapes do not match.

    Notes
    -----
    Source: the document of aclnnMaxUnpool3dBackward (it says that two axes are flattened; the range
    of its own index shows that all three are).
    """
    lead = self.shape[:-3]
    if indices.shape != self.shape or grad_output.shape != lead + tuple(output_size):
        raise ValueError(
            f"max_unpool3d_backward: grad_output has shape {grad_output.shape}, self {self.shape} "
            f"and indices {indices.shape}, with output_size {list(output_size)}"
        )
    cells = int(np.prod(output_size))
    require_range("max_unpool3d_backward", indices, cells)
    flat = grad_output.reshape(*lead, cells)
    chosen = indices.reshape(*lead, int(np.prod(self.shape[-3:])))
    return np.take_along_axis(flat, chosen, axis=-1).reshape(self.shape)


def require_range(name: str, indices: npt.NDArray[Any], cells: int) -> None:
    """Raise IndexError for the first index that is not in [0, cells)."""
    outside = np.argwhere((indices < 0) | (indices >= cells))
    if len(outside):
        where = tuple(outside[0].tolist())
        raise IndexError(
            f"{name}: indices{list(where)} is {indices[where]}; expected 0 to {cells - 1}"
        )
