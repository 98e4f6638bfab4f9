# SPDX-License-Identifier: Apache-2.0
"""Distances of computed values from float64 references, in units in the last place.

The reference is rounded once to the computed type; the distance is the number of representable
steps between the two. So an overflow is one step away from the largest finite value, and NaN is at
distance 0 only from NaN. The distance of two integers is their difference.
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
    """Return the position of each value in the order of its type; both zeros share one."""
    if values.dtype.kind in "iu":
        places = values.astype(np.uint64)
        return places ^ _MIDDLE if values.dtype.kind == "i" else places
    width = 8 * values.dtype.itemsize
    pattern = bits(values).astype(np.uint64)
    magnitude = pattern & np.uint64((1 << (width - 1)) - 1)
    negative = (pattern >> np.uint64(width - 1)).astype(bool)
    return np.asarray(np.where(negative, _MIDDLE - magnitude, _MIDDLE + magnitude))


def distance(
    computed: npt.NDArray[Any], reference: npt.NDArray[np.float64], *, zero_sign: bool = False
) -> npt.NDArray[np.float64]:
    """Return the distance in ULP of computed values from a float64 reference rounded to their type.

    The distance of NaN from NaN is 0, from a number infinite. With ``zero_sign``, that of +0 from
    -0 is infinite.
    """
    if computed.shape != reference.shape:
        raise ValueError(f"computed has shape {computed.shape}, reference {reference.shape}")
    return between(computed, round_to(reference, computed.dtype), zero_sign=zero_sign)


def between(
    computed: npt.NDArray[Any], expected: npt.NDArray[Any], *, zero_sign: bool = False
) -> npt.NDArray[np.float64]:
    """Return the distance in ULP of two arrays of the same type and shape, as `distance` does."""
    a, b = ordinal(computed), ordinal(expected)
    steps = np.where(a > b, a - b, b - a).astype(np.float64)
    nan, expected_nan = np.isnan(computed), np.isnan(expected)
    steps[nan & expected_nan] = 0.0
    steps[nan ^ expected_nan] = np.inf
    if zero_sign:
        steps[zero_signs_differ(computed, expected)] = np.inf
    return np.asarray(steps)


def zero_signs_differ(
    computed: npt.NDArray[Any], expected: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Whether each pair of values is +0 and -0; integers have only one zero."""
    if computed.dtype.kind in "iu":
        return np.zeros(computed.shape, np.bool_)
    zeros = (computed == 0) & (expected == 0)
    return np.asarray(zeros & (np.signbit(computed) != np.signbit(expected)))


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
