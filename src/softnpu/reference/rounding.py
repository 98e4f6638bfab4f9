# SPDX-License-Identifier: Apache-2.0
"""Rounding a float64 result to a data type, once."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def round_to(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Round float64 values to a data type in a single step.

    Floating types round to nearest even. Integer types round toward zero and saturate (NaN becomes
    0, which no operator produces). Complex types get the rounded value as real part and +0 as
    imaginary part.

    Parameters
    ----------
    values : array of float64, any shape
    dtype : float16, bfloat16, float32, float64, complex64, complex128 or any integer type

    Returns
    -------
    array of ``dtype``, same shape

    Raises
    ------
    TypeError
        The data type is not one of these.
    """
    exact = np.asarray(values, dtype=np.float64)
    target = np.dtype(dtype)
    if target == _BFLOAT16:
        return _to_odd_float32(exact).astype(target)
    if target.kind == "f":
        # NumPy goes from float64 to float32 and to float16 directly, so each of these rounds once.
        with np.errstate(over="ignore", under="ignore"):
            return exact.astype(target)
    if target.kind == "c":
        widened = np.zeros(exact.shape, target)
        widened.real = round_to(exact, np.float32 if target.itemsize == 8 else np.float64)
        return widened
    if target.kind in "iu":
        return _saturate(exact, target)
    raise TypeError(f"round_to: dtype is {target}; expected a floating, complex or integer type")


def _to_odd_float32(exact: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Round to float32 so that a later rounding to bfloat16 gives what a single one would.

    Inexact values are truncated and their last bit is set ("round to odd"). That bit tells the
    second rounding on which side of a tie the value lay; it works because 24 bits are at least two
    more than bfloat16's 8.
    """
    with np.errstate(over="ignore", under="ignore"):
        near = np.atleast_1d(exact.astype(np.float32))
    wide = near.astype(np.float64)
    original = np.atleast_1d(exact)
    inexact = (wide != original) & ~np.isnan(original)
    bits = near.view(np.uint32)
    bits[np.abs(wide) > np.abs(original)] -= np.uint32(1)
    bits[inexact] |= np.uint32(1)
    return near.reshape(exact.shape)


def _saturate(exact: npt.NDArray[np.float64], target: np.dtype[Any]) -> npt.NDArray[Any]:
    limits = np.iinfo(target)
    # max + 1 is a power of two, hence exact in float64; max itself is not at 64 bits.
    below, above = exact < float(limits.min), exact >= float(limits.max + 1)
    inside = ~(below | above | np.isnan(exact))
    result = np.trunc(np.where(inside, exact, 0.0)).astype(target)
    result = np.where(above, target.type(limits.max), result)
    return np.asarray(np.where(below, target.type(limits.min), result))
