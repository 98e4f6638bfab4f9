# SPDX-License-Identifier: Apache-2.0
"""How exact values become results of a data type, and how far two of them are apart."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from softnpu import reference
from softnpu.judging.ulp import distance, faithful, ordinal, same_bits
from tests.support import specials as sp


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_rounding_is_to_nearest_even(dtype: np.dtype[Any]) -> None:
    """Law: midpoints of neighbours go to the even one, values a step beside them to the nearer."""
    rng = np.random.default_rng(81)
    low = np.abs(sp.random_bits(rng, 20_000, dtype))
    low = low[np.isfinite(low)]
    unsigned = np.dtype(f"u{dtype.itemsize}")
    high = (low.view(unsigned) + unsigned.type(1)).view(dtype)
    low, high = low[np.isfinite(high)], high[np.isfinite(high)]
    middle = (low.astype(np.float64) + high.astype(np.float64)) / 2
    even = np.where(low.view(unsigned) % 2 == 0, low, high)
    for sign in (1.0, -1.0):
        signed = [(sign * v.astype(np.float64)).astype(dtype) for v in (low, even, high)]
        for value, expected in zip(
            (np.nextafter(middle, 0), middle, np.nextafter(middle, np.inf)), signed, strict=True
        ):
            assert same_bits(reference.round_to(sign * value, dtype), expected)


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_rounding_at_the_ends(dtype: np.dtype[Any]) -> None:
    """Law: from the middle of the last step up, values overflow; zeros keep their sign."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    largest, step = float(info.max), float(info.max) * float(info.eps)
    ulp = 2.0 ** math.floor(math.log2(step))
    limit = largest + ulp / 2
    values = np.array([np.nextafter(limit, 0), limit, 1e300, np.inf, -1e-300, -0.0, np.nan])
    expected = np.array([largest, np.inf, np.inf, np.inf, -0.0, -0.0, np.nan]).astype(dtype)
    got = reference.round_to(values, dtype)
    assert (ordinal(got) == ordinal(expected))[:-1].all()
    assert np.isnan(got[-1])
    assert np.signbit(got[4:6]).all()


def test_rounding_to_integers_and_complex() -> None:
    """Law: integers truncate and saturate; complex values get an imaginary part of +0."""
    values = np.array([-1.9, 1.9, 127.99, 128.0, -128.9, -129.5, 1e30, -np.inf, np.nan])
    got = reference.round_to(values, np.int8)
    assert got.dtype == np.int8
    assert got.tolist() == [-1, 1, 127, 127, -128, -128, 127, -128, 0]
    edge = reference.round_to(np.array([2.0**63, -(2.0**63), 2.0**63 - 1024]), np.int64)
    assert edge.tolist() == [2**63 - 1, -(2**63), 2**63 - 1024]
    third = reference.round_to(np.array(1 / 3), np.complex64)
    assert third.dtype == np.complex64
    assert third.real == np.float32(1 / 3)
    assert same_bits(third.imag.copy(), np.array(0, np.float32))
    with pytest.raises(TypeError, match="round_to"):
        reference.round_to(values, np.bool_)


def test_distances() -> None:
    """Law: the yardstick itself: neighbours are 1 apart, across zero and up to infinity too."""
    tiny, largest = np.float32(1e-45), np.finfo(np.float32).max
    computed = np.array([1, 1, -tiny, largest, np.nan, np.nan, -0.0], np.float32)
    exact = np.array([1, 1 + 2**-23, float(tiny), np.inf, np.nan, 1, 0.0])
    assert distance(computed, exact).tolist() == [0, 1, 2, 1, 0, np.inf, 0]
    assert distance(computed, exact, zero_sign=True)[-1] == np.inf
    near = 1 + 2**-25
    got = np.array([1, 1 + 2**-23, 1 - 2**-24], np.float32)
    assert faithful(got, np.full(3, near)).tolist() == [True, True, False]
