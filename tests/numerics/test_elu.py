# SPDX-License-Identifier: Apache-2.0
"""elu and elu_ against their float64 definition.

Ranges of the accuracy table: "every pattern" takes inputs from the whole type, float32's in steps;
"near zero" takes inputs whose result cancels in exp(x) - 1; "wide scalars" takes scalars from 1e-10
to 1e10; "specials" takes edge values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
Scalars = tuple[float, float, float]
Batch = tuple[Array, Scalars]

COMMON: list[Scalars] = [
    (1.0, 1.0, 1.0),
    (1.6732632423543772, 1.0507009873554805, 1.0),
    (1.25, 0.75, 1.0),
    (-1.25, 0.75, 1.0),
    (0.5, 2.0, 0.25),
    (3.7, 0.1, 5.3),
]
ODD: list[Scalars] = [(1.0, 1.0, -1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0)]


def every_pattern(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all 65536 inputs of a 16-bit type, or 2^21 of float32 that are evenly spread."""
    x = sp.every_bit_pattern(dtype) if dtype.itemsize == 2 else _spread(2039)
    for scalars in COMMON:
        yield x, scalars


def near_zero(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw inputs between -0.7 and 0, of every size down to the smallest."""
    x = -0.7 * rng.random(200_000) * 10.0 ** -rng.integers(0, 8, 200_000)
    for scalars in COMMON:
        yield x.astype(np.float32).astype(dtype), scalars


def wide_scalars(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw scalars of either sign between 1e-10 and 1e10, and inputs from all bit patterns."""
    for _ in range(40):
        signs = rng.choice([-1.0, 1.0], 3)
        scalars = [sp.random_scalar(rng) * float(sign) for sign in signs]
        yield sp.random_bits(rng, (25_000,), dtype), (scalars[0], scalars[1], scalars[2])


def edge_values(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take edge values."""
    for scalars in COMMON + ODD:
        yield sp.specials(dtype), scalars


def _spread(step: int) -> Array:
    return np.arange(0, 1 << 32, step, np.uint64).astype(np.uint32).view(np.float32)


RANGES: dict[str, Callable[[np.random.Generator, np.dtype[Any]], Iterator[Batch]]] = {
    "every pattern": every_pattern,
    "near zero": near_zero,
    "wide scalars": wide_scalars,
    "specials": edge_values,
}


@pytest.mark.parametrize("row", accuracy.rows("elu"))
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    for x, scalars in RANGES[row.range](np.random.default_rng(50), row.dtype):
        got = softnpu.elu(x, *scalars)
        accuracy.check(row, got, reference.elu(x, *scalars), x, context=scalars)
    accuracy.check_share(row)


@settings(max_examples=100, deadline=None)
@given(x=st.floats(width=32), scalars=st.tuples(*[st.floats(-1e10, 1e10, width=32)] * 3))
def test_any_float32(x: float, scalars: Scalars) -> None:
    """Law: no float32 input and no scalars up to 1e10 are more than 2 ULP off."""
    value = np.array([x], np.float32)
    got, expected = softnpu.elu(value, *scalars), reference.elu(value, *scalars)
    assert distance(got, expected, zero_sign=True).max() <= 2


@pytest.mark.parametrize("scalars", [(1.0, 1.0, -1.0), (0.0, 1.0, -1.0), (1e-30, 1e-30, -1e-30)])
def test_the_largest_exponentials(scalars: Scalars) -> None:
    """Law: a factor of 0 makes 0 of every exponential that float64 holds, and NaN of infinity."""
    exponent = np.float64([700, 709, 709.4, 709.5, 709.7, 709.78, 709.79, 710, 711, np.inf])
    x = (np.concatenate([exponent, np.linspace(709.4, 709.8, 1000)]) / scalars[2]).astype("f4")
    got, expected = softnpu.elu(x, *scalars), reference.elu(x, *scalars)
    assert distance(got, expected, zero_sign=True).max() == 0


@pytest.mark.parametrize("target", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_casts_round_the_float32_result_once(dtype: np.dtype[Any], target: np.dtype[Any]) -> None:
    """Law: an output of another floating type holds the float32 result, rounded once to it."""
    x = sp.random_values(np.random.default_rng(51), (50_000,), dtype)
    wide = softnpu.elu(x, 1.25, 0.75, out=np.empty(x.shape, np.float32))
    got = softnpu.elu(x, 1.25, 0.75, out=np.empty(x.shape, target))
    assert same_bits(got, reference.round_to(wide.astype(np.float64), target))


@pytest.mark.parametrize("kind", [np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_wider_outputs_hold_the_float32_result(dtype: np.dtype[Any], kind: type[Any]) -> None:
    """Law: DOUBLE and complex outputs hold the float32 result exactly, imaginary part +0."""
    x = sp.specials(dtype)
    narrow = softnpu.elu(x, 1.5, 0.7, 1.3, out=np.empty(x.shape, np.float32))
    got = softnpu.elu(x, 1.5, 0.7, 1.3, out=np.empty(x.shape, kind))
    assert distance(got.real.astype(np.float64), narrow.astype(np.float64)).max() == 0
    assert same_bits(got.imag.copy(), np.zeros(x.shape, got.real.dtype))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_in_place_writes_what_elu_computes(dtype: np.dtype[Any], layout: Layout) -> None:
    """Law: elu_ has elu's bits in any layout, gives its argument back, and writes nothing else."""
    x = sp.random_values(np.random.default_rng(52), (3, 5, 7), dtype)
    for scalars in COMMON:
        placed = place(x, layout)
        expected = softnpu.elu(x, *scalars)
        assert softnpu.elu_(placed.view, *scalars) is placed.view
        assert same_bits(placed.view, expected)
        assert placed.surroundings_unchanged()


def test_the_gradient_is_that_of_the_forward() -> None:
    """Law: a central difference of the definition agrees with elu_backward, both ways."""
    x = np.random.default_rng(53).uniform(-5, 3, 1000)
    x = x[np.abs(x) > 1e-3]
    for a, s, k in COMMON:
        h = 1e-6
        slope = (_exact(x + h, a, s, k) - _exact(x - h, a, s, k)) / (2 * h)
        ones, narrow = np.ones(x.shape, np.float32), x.astype(np.float32)
        from_input = softnpu.elu_backward(ones, a, s, k, False, narrow)
        np.testing.assert_allclose(from_input, slope, rtol=2e-5, atol=2e-5)
        if a > 0:
            result = softnpu.elu(narrow, a, s, k)
            from_result = softnpu.elu_backward(ones, a, s, k, True, result)
            np.testing.assert_allclose(from_result, slope, rtol=2e-5, atol=2e-5)


def _exact(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    return np.asarray(np.where(x > 0, scale * x, alpha * scale * np.expm1(x * input_scale)))
