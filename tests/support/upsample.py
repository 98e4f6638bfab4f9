# SPDX-License-Identifier: Apache-2.0
"""Calls of upsample_nearest3d_backward in one layout and the other, for tests that compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import softnpu
from softnpu import reference

Array = npt.NDArray[Any]
Sizes = tuple[int, int, int]


def both(grad: Array, inner: Sizes, *scales: float) -> tuple[Array, npt.NDArray[np.float64]]:
    """Return what the device and the reference compute for NCDHW."""
    outer, size = grad.shape[2:], (*grad.shape[:2], *inner)
    got = softnpu.upsample_nearest3d_backward(grad, outer, size, *scales)
    return got, reference.upsample_nearest3d_backward(grad, outer, size, *scales)


def channels_last(grad: Array, inner: Sizes, *scales: float) -> Array:
    """Return what the device computes for the same gradient with channels side by side."""
    last = np.ascontiguousarray(np.moveaxis(grad, 1, -1))
    size = (grad.shape[0], *inner, grad.shape[1])
    outer = grad.shape[2:]
    got = softnpu.upsample_nearest3d_backward(last, outer, size, *scales, format="NDHWC")
    return np.ascontiguousarray(np.moveaxis(got, -1, 1))


def each_alone(grad: Array, inner: Sizes) -> Array:
    """Return what the device computes for NCDHW with one channel in each call."""
    outer, size = grad.shape[2:], (grad.shape[0], 1, *inner)
    alone = [
        softnpu.upsample_nearest3d_backward(grad[:, c : c + 1], outer, size)
        for c in range(grad.shape[1])
    ]
    return np.concatenate(alone, axis=1)
