# SPDX-License-Identifier: Apache-2.0
"""The gradient of nearest-neighbour upsampling in three dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt


def upsample_nearest3d_backward(
    grad_out: npt.NDArray[Any],
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_d: SupportsFloat = 0.0,
    scales_h: SupportsFloat = 0.0,
    scales_w: SupportsFloat = 0.0,
    *,
    format: str = "NCDHW",
) -> npt.NDArray[np.float64]:
    """Gradient of nearest upsampling: the sum over the copies of each input element.

    Input element i of an axis was copied to the elements from start(i) up to start(i + 1), in
    float32 arithmetic::

        scale    = float32(scales) if all three scales are > 0, else float32(out) / float32(in)
        start(i) = min(ceil(float32(i) * scale), out)

    The sum of an empty range is +0. Sums are exact before their one rounding to float64. A zero sum
    is +0, unless all of its terms are -0, as in IEEE 754 in any order of adding.

    Parameters
    ----------
    grad_out : array of float32, float16, bfloat16 or float64
        Shape (N, C, D, H, W), or (N, D, H, W, C) for NDHWC.
    output_size : 3 integers
        D, H, W of ``grad_out``.
    input_size : 5 integers
        The shape of the gradient: N, C, D, H, W. For NDHWC, N, D, H, W, C is tried first.
    scales_d, scales_h, scales_w : float
        0 or less means not given. The formula takes any others, whatever the sizes are.
    format : "NCDHW" or "NDHWC"

    Returns
    -------
    array of float64, shape as ``grad_out`` with D, H, W of ``input_size``

    Raises
    ------
    ValueError
        The sizes do not match ``grad_out`` or are not all above 0, or ``format`` is invalid.

    Notes
    -----
    Source: the document of aclnnUpsampleNearest3dBackward.
    """
    if format not in ("NCDHW", "NDHWC"):
        raise ValueError(f"upsample_nearest3d_backward: format is {format!r}")
    channels_last = format == "NDHWC"
    grad = np.moveaxis(grad_out, -1, 1) if channels_last else grad_out
    inner = _inner_sizes(grad.shape, tuple(output_size), tuple(input_size), channels_last)
    scales = tuple(map(float, (scales_d, scales_h, scales_w)))
    given = all(scale > 0 for scale in scales)
    ranges = [
        _ranges(size, out, scale if given else None)
        for size, out, scale in zip(inner, output_size, scales, strict=True)
    ]
    wide = grad.astype(np.float64)
    result = np.zeros(grad.shape[:2] + inner, np.float64)
    for n, c, d, h, w in product(*map(range, result.shape)):
        box = wide[n, c, ranges[0][d], ranges[1][h], ranges[2][w]]
        result[n, c, d, h, w] = _sum(box.ravel())
    return np.moveaxis(result, 1, -1) if channels_last else result


def starts(size: int, out: int, scale: float | None = None) -> npt.NDArray[np.int64]:
    """Return start(0) to start(size), where the copies of each input element begin on one axis.

    Parameters
    ----------
    size, out : int
        Sizes of the axis before and after upsampling, at most 2**20.
    scale : float, optional
        The given scale; without it, out / size.
    """
    step = np.float32(out) / np.float32(size) if scale is None else np.float32(scale)
    products = np.arange(size + 1, dtype=np.float32) * step
    edges = np.minimum(np.ceil(products).astype(np.float64), out)
    return np.asarray(edges, dtype=np.int64)


def _ranges(size: int, out: int, scale: float | None) -> list[slice]:
    edges = starts(size, out, scale).tolist()
    return [slice(begin, end) for begin, end in pairwise(edges)]


def _inner_sizes(
    shape: tuple[int, ...], out: tuple[int, ...], size: tuple[int, ...], channels_last: bool
) -> tuple[int, ...]:
    """D, H, W of the gradient, from either documented order of input_size."""
    if len(shape) != 5 or shape[2:] != out or len(size) != 5 or min(*out, *size) < 1:
        raise ValueError(
            f"upsample_nearest3d_backward: grad_out has D, H, W = {list(shape[2:])}, output_size "
            f"is {list(out)}, input_size is {list(size)}; expected equal sizes and 5 integers, all "
            "above 0"
        )
    if channels_last and (size[0], size[4]) == shape[:2]:
        return size[1:4]
    if size[:2] == shape[:2]:
        return size[2:]
    raise ValueError(
        f"upsample_nearest3d_backward: input_size is {list(size)}, but grad_out has "
        f"N, C = {list(shape[:2])}"
    )


def _sum(terms: npt.NDArray[np.float64]) -> float:
    """Sum without intermediate rounding; zeros, infinities and NaN as IEEE 754 adds them."""
    try:
        total = math.fsum(terms.tolist())
    except (OverflowError, ValueError):
        return _unusual_sum(terms)
    return total if total and math.isfinite(total) else _unusual_sum(terms)


def _unusual_sum(terms: npt.NDArray[np.float64]) -> float:
    if terms.size and (terms == 0).all() and np.signbit(terms).all():
        return -0.0
    if not np.isfinite(terms).all():
        with np.errstate(invalid="ignore"):
            return float(terms.sum())
    try:
        return math.fsum(terms.tolist())
    except OverflowError:  # a partial sum left the float64 range; the whole may still lie within
        half = math.fsum(np.ldexp(terms, -64).tolist())
        with np.errstate(over="ignore"):
            return float(np.ldexp(half, 64))
