# SPDX-License-Identifier: Apache-2.0
"""Nearest-neighbour upsampling in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from .upsample_nearest3d_backward import starts


def upsample_nearest3d(
    self: npt.NDArray[Any],
    output_size: Sequence[int],
    scales_d: SupportsFloat = 0.0,
    scales_h: SupportsFloat = 0.0,
    scales_w: SupportsFloat = 0.0,
    *,
    format: str = "NCDHW",
) -> npt.NDArray[Any]:
    """Nearest upsampling, bit for bit.

    Element i of an axis is copied to the elements from start(i) up to start(i + 1), in float32
    arithmetic::

        scale    = float32(scales) if all three scales are > 0, else float32(out) / float32(in)
        start(i) = min(ceil(float32(i) * scale), out)

    Elements behind the last range, which exist for some given scales, are copies of the last
    element. Values are moved, not computed, so the result keeps the data type of ``self`` instead
    of becoming float64.

    Parameters
    ----------
    self : array of float32, float16, bfloat16, float64 or uint8
        Shape (N, C, D, H, W), or (N, D, H, W, C) for NDHWC; not empty.
    output_size : 3 integers
        D, H, W of the result.
    scales_d, scales_h, scales_w : float
        0 or less means not given. The formula takes any others, whatever the sizes are.
    format : "NCDHW" or "NDHWC"

    Returns
    -------
    array of the data type of ``self``, shape as ``self`` with D, H, W of ``output_size``

    Raises
    ------
    ValueError
        There are not three sizes, one is not above 0, or ``format`` is invalid.

    Notes
    -----
    Source: the document of aclnnUpsampleNearest3d.
    """
    if format not in ("NCDHW", "NDHWC"):
        raise ValueError(f"upsample_nearest3d: format is {format!r}")
    if self.ndim != 5 or len(output_size) != 3 or min(*self.shape, *output_size) < 1:
        raise ValueError(
            f"upsample_nearest3d: self has shape {list(self.shape)}, output_size is "
            f"{list(output_size)}; expected rank 5 and 3 integers, all above 0"
        )
    scales = tuple(map(float, (scales_d, scales_h, scales_w)))
    given = all(scale > 0 for scale in scales)
    first = 1 if format == "NDHWC" else 2
    result = self
    for axis, (out, scale) in enumerate(zip(output_size, scales, strict=True), first):
        chosen = _sources(self.shape[axis], out, scale if given else None)
        result = np.take(result, chosen, axis)
    return result


def _sources(size: int, out: int, scale: float | None) -> list[int]:
    """Return the source of each element of the result along one axis."""
    edges = starts(size, out, scale).tolist()
    found = [i for i, (begin, end) in enumerate(pairwise(edges)) for _ in range(begin, end)]
    return found + [size - 1] * (out - len(found))
