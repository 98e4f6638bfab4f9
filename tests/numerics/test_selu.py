# SPDX-License-Identifier: Apache-2.0
"""selu and selu_ against their float64 definition, and their integers against exact arithmetic.

Ranges of the accuracy table: "every pattern" takes inputs from the whole type, float32's in steps;
"near zero" takes inputs whose result cancels in exp(x) - 1; "specials" takes edge values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import distance, same_bits
from tests.support import accuracy
from tests.support import specials as sp
from tests.support.layouts import LAYOUTS, Layout, place

Array = npt.NDArray[Any]
TYPES = (*sp.FLOATING, np.dtype(np.int32), np.dtype(np.int8))


def every_pattern(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Array]:
    """Take all 65536 inputs of a 16-bit type, or 2^23 of float32 that are evenly spread."""
    spread = np.arange(0, 1 << 32, 509, np.uint64).astype(np.uint32).view(np.float32)
    yield sp.every_bit_pattern(dtype) if dtype.itemsize == 2 else spread


def near_zero(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Array]:
    """Draw inputs between -0.7 and 0, of every size down to the smallest."""
    x = -0.7 * rng.random(1_000_000) * 10.0 ** -rng.integers(0, 8, 1_000_000)
    yield x.astype(np.float32).astype(dtype)


def edge_values(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Array]:
    """Take edge values."""
    yield sp.specials(dtype)


RANGES: dict[str, Callable[[np.random.Generator, np.dtype[Any]], Iterator[Array]]] = {
    "every pattern": every_pattern,
    "near zero": near_zero,
    "specials": edge_values,
}


@pytest.mark.parametrize("row", accuracy.rows("selu"))
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    for x in RANGES[row.range](np.random.default_rng(60), row.dtype):
        accuracy.check(row, softnpu.selu(x), reference.selu(x), x)
    accuracy.check_share(row)


@settings(max_examples=100, deadline=None)
@given(x=st.floats(width=32))
def test_any_float32(x: float) -> None:
    """Law: no float32 input is more than 2 ULP off."""
    value = np.array([x], np.float32)
    assert distance(softnpu.selu(value), reference.selu(value), zero_sign=True).max() <= 2


def test_every_int8() -> None:
    """Law: all INT8 are truncated toward zero and saturated."""
    x = np.arange(-128, 128).astype(np.int8)
    np.testing.assert_array_equal(softnpu.selu(x), [_exact(int(v), -128, 127) for v in x])


def test_int32_loses_no_input_bit() -> None:
    """Law: INT32 is the exact result truncated toward zero and saturated."""
    info = np.iinfo(np.int32)
    edges = [info.min, -(2**24) - 1, *range(-50, 51), 2**24 + 1, 2043831706, 2043831707, info.max]
    drawn = np.random.default_rng(61).integers(info.min, info.max, 20_000)
    x = np.concatenate([edges, drawn]).astype(np.int32)
    expected = [_exact(int(v), info.min, info.max) for v in x]
    np.testing.assert_array_equal(softnpu.selu(x), expected)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("dtype", TYPES, ids=lambda d: d.name)
def test_in_place_writes_what_selu_computes(dtype: np.dtype[Any], layout: Layout) -> None:
    """Law: selu_ has selu's bits in any layout, returns its argument, and writes nothing else."""
    x = sp.random_values(np.random.default_rng(62), (3, 5, 7), dtype)
    placed = place(x, layout)
    assert softnpu.selu_(placed.view) is placed.view
    assert same_bits(placed.view, softnpu.selu(x))
    assert placed.surroundings_unchanged()


def test_the_gradient_is_that_of_the_forward() -> None:
    """Law: a central difference of the definition agrees with selu_backward of selu's result."""
    x = np.random.default_rng(63).uniform(-5, 3, 1000)
    x = x[np.abs(x) > 1e-3]
    slope = (reference.selu(x + 1e-6) - reference.selu(x - 1e-6)) / 2e-6
    result = softnpu.selu(x.astype(np.float32))
    got = softnpu.selu_backward(np.ones_like(result), result)
    np.testing.assert_allclose(got, slope, rtol=2e-5, atol=2e-5)


def _exact(x: int, low: int, high: int) -> int:
    with localcontext() as context:
        context.prec = 50
        lam = Decimal("1.0507009873554804934193349852946")
        alpha = Decimal("1.6732632423543772848170429916717")
        value = lam * x if x > 0 else lam * alpha * (Decimal(max(x, -200)).exp() - 1)
        return min(max(int(value), low), high)
