# SPDX-License-Identifier: Apache-2.0
"""How far computed values are from float64 references, in units in the last place.

The reference is rounded once to the computed type; the distance is the number of representable
steps between the two. An overflow is thus one step away from the largest finite value, and a NaN is
only near a NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu.reference import round_to

_UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_MIDDLE = np.uint64(1 << 63)


def bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the bit patterns of an array as unsigned integers, contiguous."""
    return np.ascontiguousarray(values).view(_UINT[values.dtype.itemsize]).reshape(values.shape)


def ordinal(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return the place of each value in the order of its type; both zeros share one."""
    width = 8 * values.dtype.itemsize
    pattern = bits(values).astype(np.uint64)
    magnitude = pattern & np.uint64((1 << (width - 1)) - 1)
    negative = (pattern >> np.uint64(width - 1)).astype(bool)
    return np.asarray(np.where(negative, _MIDDLE - magnitude, _MIDDLE + magnitude))


def distance(
    computed: npt.NDArray[Any], reference: npt.NDArray[np.float64], *, zero_sign: bool = False
) -> npt.NDArray[np.float64]:
    """Return the distance in ULP of computed values from a float64 reference rounded to their type.

    NaN against NaN is 0, against a number infinite. With ``zero_sign``, +0 against -0 is infinite.
    """
    if computed.shape != reference.shape:
        raise ValueError(f"computed has shape {computed.shape}, reference {reference.shape}")
    rounded = round_to(reference, computed.dtype)
    a, b = ordinal(computed), ordinal(rounded)
    steps = np.where(a > b, a - b, b - a).astype(np.float64)
    nan, expected_nan = np.isnan(computed), np.isnan(rounded)
    steps[nan & expected_nan] = 0.0
    steps[nan ^ expected_nan] = np.inf
    if zero_sign:
        zeros = (computed == 0) & (rounded == 0)
        steps[zeros & (np.signbit(computed) != np.signbit(rounded))] = np.inf
    return np.asarray(steps)


def faithful(
    computed: npt.NDArray[Any], reference: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Whether each value is one of the two representable values that enclose the reference."""
    rounded = round_to(reference, computed.dtype).astype(np.float64)
    wide = computed.astype(np.float64)
    between = ((rounded < reference) & (reference < wide)) | (
        (wide < reference) & (reference < rounded)
    )
    steps = distance(computed, reference)
    return np.asarray((steps == 0) | ((steps == 1) & between))


def same_bits(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether two arrays have the same type, shape and bit patterns, NaN payloads included."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
