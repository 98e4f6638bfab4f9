# SPDX-License-Identifier: Apache-2.0
"""elu_backward against its float64 definition.

Ranges of the accuracy table, for both branches: "all bits" and "every pattern" take inputs from the
whole type and scalars from 1e-10 to 1e10; "cancelling" takes results next to -alpha*scale;
"exponents" takes inputs whose exponential neither vanishes nor overflows; "ordinary" takes inputs
around 0 with common scalars; "specials" takes all pairs of edge values.
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

Array = npt.NDArray[Any]
Scalars = tuple[float, float, float]
Batch = tuple[Array, Array, Scalars]

COMMON: list[Scalars] = [
    (1.0, 1.0, 1.0),
    (1.6732632423543772, 1.0507009873554805, 1.0),
    (0.5, 2.0, 0.25),
    (3.7, 0.1, 5.3),
]
ODD: list[Scalars] = [(1.0, 1.0, -1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0)]


def wide_scalars(rng: np.random.Generator, negative_scale: bool = True) -> Scalars:
    """Draw alpha at least 0, scale and input_scale of either sign, between 1e-10 and 1e10."""
    signs = rng.choice([-1.0, 1.0], 2) if negative_scale else (1.0, 1.0)
    alpha, scale, input_scale = (sp.random_scalar(rng) for _ in range(3))
    return alpha, scale * float(signs[0]), input_scale * float(signs[1])


def all_bits(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw both inputs from all bit patterns."""
    for _ in range(40):
        g, x = sp.random_bits(rng, (2, 25_000), dtype)
        yield g, x, wide_scalars(rng)


def every_pattern(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all 65536 inputs, with a few gradients."""
    x = sp.every_bit_pattern(dtype)
    for grad in (1.0, -0.7, 3e-5, 1000.0):
        for scalars in [*COMMON, wide_scalars(rng), wide_scalars(rng)]:
            yield np.full_like(x, grad), x, scalars


def cancelling(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take results within a few steps of -alpha*scale, where the slope loses its leading digits."""
    for _ in range(400):
        alpha, scale = sp.random_scalar(rng, -3, 3), sp.random_scalar(rng, -1, 1)
        x = sp.neighbours([-alpha * scale], dtype, 40)
        g = sp.random_values(rng, x.shape, dtype)
        yield g, x, (alpha, scale, sp.random_scalar(rng, -2, 2))


def exponents(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw inputs with x * input_scale between -110 and 95, for any input_scale."""
    for _ in range(40):
        alpha, scale, k = wide_scalars(rng)
        if dtype == sp.FLOAT16:  # its inputs would not reach far enough
            k = float(np.copysign(sp.random_scalar(rng, -2, 2), k))
        # x is not above 0, so the exponent has the opposite sign of input_scale.
        exponent = rng.uniform(-110, 0, 25_000) if k > 0 else rng.uniform(0, 95, 25_000)
        x = (exponent / k).astype(np.float32).astype(dtype)
        yield sp.random_values(rng, x.shape, dtype), x, (alpha, scale, k)


def ordinary(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw inputs around 0, with common scalars."""
    for scalars in COMMON:
        g, x = sp.random_values(rng, (2, 250_000), dtype)
        yield g, x, scalars


def edge_values(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all pairs of edge values, and of values next to -alpha*scale."""
    for scalars in COMMON + ODD:
        near = [-scalars[0] * scalars[1]] if scalars[0] * scalars[1] else [-1.0]
        x = np.concatenate([sp.specials(dtype), sp.neighbours(near, dtype)])
        g, x = sp.all_pairs(sp.specials(dtype), x)
        yield g, x, scalars


RANGES: dict[str, Callable[[np.random.Generator, np.dtype[Any]], Iterator[Batch]]] = {
    "all bits": all_bits,
    "every pattern": every_pattern,
    "cancelling": cancelling,
    "exponents": exponents,
    "ordinary": ordinary,
    "specials": edge_values,
}


@pytest.mark.parametrize("row", accuracy.rows("elu_backward"))
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    branch, name = row.range.split(", ")
    is_result = branch == "result"
    for g, x, scalars in RANGES[name](np.random.default_rng(20), row.dtype):
        got = softnpu.elu_backward(g, *scalars, is_result, x)
        expected = reference.elu_backward(g, *scalars, is_result, x)
        accuracy.check(row, got, expected, g, x, context=scalars)
    accuracy.check_share(row)


@settings(max_examples=150, deadline=None)
@given(
    g=st.floats(width=32),
    x=st.floats(width=32),
    scalars=st.tuples(*[st.floats(0, 1e10, width=32) for _ in range(3)]),
    is_result=st.booleans(),
)
def test_any_float32(g: float, x: float, scalars: Scalars, is_result: bool) -> None:
    """Law: no float32 input and no scalars from 0 to 1e10 are more than 2 ULP off.

    At most two roundings happen, and the second one's units may be half of the first one's: up to
    1.5 of them, and half of one that the reference is rounded by.
    """
    grad, value = np.array([g], np.float32), np.array([x], np.float32)
    got = softnpu.elu_backward(grad, *scalars, is_result, value)
    expected = reference.elu_backward(grad, *scalars, is_result, value)
    assert distance(got, expected, zero_sign=True).max() <= 2


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("scalars", [(1.0, 1.0, -1.0), (0.0, 1.0, -1.0), (1e-30, 1e-30, -1e-30)])
def test_the_largest_exponentials(dtype: np.dtype[Any], scalars: Scalars) -> None:
    """Law: a factor of 0 makes 0 of every exponential that float64 holds, and NaN of infinity."""
    exponent = np.float64([700, 709, 709.4, 709.5, 709.7, 709.78, 709.79, 710, 711, np.inf])
    x = np.concatenate([exponent, np.linspace(709.4, 709.8, 1000)]) / scalars[2]
    g, x = sp.all_pairs(np.array([0, -0.0, 1e-45, 1], np.float32).astype(dtype), x.astype(dtype))
    got = softnpu.elu_backward(g, *scalars, False, x)
    expected = reference.elu_backward(g, *scalars, False, x)
    assert distance(got, expected, zero_sign=True).max() == 0


def test_document_sample() -> None:
    """Law: the document's sample gives the document's result, with -0 where -1 meets 0."""
    x = np.array([[-2, -1], [0, 1]], np.float32)
    got = softnpu.elu_backward(x, 1.0, 1.0, 1.0, True, x)
    assert same_bits(got, np.array([[2, -0.0], [0, 1]], np.float32))


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("is_result", [True, False])
def test_wider_outputs_hold_the_float32_result(dtype: np.dtype[Any], is_result: bool) -> None:
    """Law: FLOAT, DOUBLE and complex outputs hold the float32 result exactly, imaginary part +0."""
    g, x = sp.all_pairs(sp.specials(dtype), sp.specials(dtype))
    outs = {
        kind: softnpu.elu_backward(g, 1.5, 0.7, 1.3, is_result, x, out=np.empty(g.shape, kind))
        for kind in (np.float32, np.float64, np.complex64, np.complex128)
    }
    narrow = outs[np.float32]
    expected = reference.elu_backward(g, 1.5, 0.7, 1.3, is_result, x)
    assert distance(narrow, expected, zero_sign=True).max() <= 2
    assert distance(outs[np.float64], narrow.astype(np.float64), zero_sign=True).max() == 0
    for kind in (np.complex64, np.complex128):
        real, imaginary = outs[kind].real, outs[kind].imag
        assert distance(real, narrow.astype(np.float64), zero_sign=True).max() == 0
        assert same_bits(imaginary.copy(), np.zeros_like(real))


@pytest.mark.parametrize("target", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_casts_round_the_float32_result_once(dtype: np.dtype[Any], target: np.dtype[Any]) -> None:
    """Law: an output of another floating type holds the float32 result, rounded once to it."""
    rng = np.random.default_rng(21)
    g, x = sp.random_values(rng, (2, 50_000), dtype)
    wide = softnpu.elu_backward(g, 1.5, 0.7, 1.3, True, x, out=np.empty(g.shape, np.float32))
    got = softnpu.elu_backward(g, 1.5, 0.7, 1.3, True, x, out=np.empty(g.shape, target))
    assert same_bits(got, reference.round_to(wide.astype(np.float64), target))


@pytest.mark.parametrize("target", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_casts_of_the_exp_branch(dtype: np.dtype[Any], target: np.dtype[Any]) -> None:
    """Law: the same with exp, but for one in 10,000 16-bit results, which is the one beside it."""
    rng = np.random.default_rng(22)
    g = sp.random_values(rng, (100_000,), dtype)
    x = (-8 * rng.random(100_000)).astype(dtype)
    wide = softnpu.elu_backward(g, 1.5, 0.7, 1.0, False, x, out=np.empty(g.shape, np.float32))
    got = softnpu.elu_backward(g, 1.5, 0.7, 1.0, False, x, out=np.empty(g.shape, target))
    rounded = reference.round_to(wide.astype(np.float64), target)
    if sp.FLOAT32 in (dtype, target):
        assert same_bits(got, rounded)
    else:
        apart = distance(got, rounded.astype(np.float64), zero_sign=True)
        assert apart.max() <= 1
        assert (apart > 0).mean() < 1e-4
