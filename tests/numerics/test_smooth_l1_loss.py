# SPDX-License-Identifier: Apache-2.0
"""smooth_l1_loss of each element against its float64 definition, and the small sums.

Ranges of the accuracy table, for each reduction: "all bits" and "every pattern" take inputs from
the whole type and beta from 1e-10 to 1e10; "near beta" takes differences next to -beta, 0 and beta;
"ordinary" takes inputs around 0 with common betas; "specials" takes all pairs of edge values.
Large sums: test_smooth_l1_loss_sums.py.
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
Batch = tuple[Array, Array, float]


def all_bits(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw both inputs from all bit patterns."""
    for _ in range(40):
        a, b = sp.random_bits(rng, (2, 25_000), dtype)
        yield a, b, sp.random_scalar(rng)
        yield a, np.where(rng.random(b.shape) < 0.5, b, np.zeros_like(b)), sp.random_scalar(rng)


def every_pattern(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all 65536 values of self, with a few targets and betas."""
    a = sp.every_bit_pattern(dtype)
    for target in (0.0, 0.5, -100.0):
        for beta in (0.0, 1.0, 0.3, sp.random_scalar(rng)):
            yield a, np.full_like(a, target), beta


def near_beta(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take differences within a few steps of -beta, 0 and beta."""
    for beta in [0.5, 1.0, 2.5, *(sp.random_scalar(rng, -4, 4) for _ in range(50))]:
        a = np.concatenate([sp.neighbours([-beta, beta], dtype, 20), sp.specials(dtype)[:3]])
        a = np.concatenate([a, a, np.array([beta, -beta], np.float32).astype(dtype)])
        b = np.zeros_like(a)
        b[: a.size // 2] = sp.random_values(rng, a.size // 2, dtype, 1e-3)
        yield a, b, beta


def ordinary(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw inputs around 0, with common betas."""
    for beta in (1.0, 0.1, 3.0, 7.3):
        yield *sp.random_values(rng, (2, 250_000), dtype), beta


def edge_values(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all pairs of edge values: overflowing differences, infinite and zero betas too."""
    edges = sp.specials(dtype)
    a, b = sp.all_pairs(edges, edges)
    largest = float(np.finfo(np.float32).max)
    for beta in (0.0, 1e-45, 1e-38, 2.0**-60, 1.0, 2.0, 2.0**60, largest, float("inf")):
        yield a, b, beta


RANGES: dict[str, Callable[[np.random.Generator, np.dtype[Any]], Iterator[Batch]]] = {
    "all bits": all_bits,
    "every pattern": every_pattern,
    "near beta": near_beta,
    "ordinary": ordinary,
    "specials": edge_values,
}


def in_parts(a: Array, b: Array) -> Iterator[tuple[Array, Array]]:
    """Cut inputs into arrays of up to 100 finite pairs, so that there are many sums."""
    finite = np.isfinite(a.astype(np.float32)) & np.isfinite(b.astype(np.float32))
    a, b = a[finite], b[finite]
    for at in range(0, min(a.size, 10_000), 100):
        yield a[at : at + 100], b[at : at + 100]


@pytest.mark.parametrize("row", accuracy.rows("smooth_l1_loss"))
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    reduction, name = row.range.split(", ")
    for a, b, beta in RANGES[name](np.random.default_rng(50), row.dtype):
        for x, y in [(a, b)] if reduction == "none" else in_parts(a, b):
            got = softnpu.smooth_l1_loss(x, y, reduction, beta)
            expected = reference.smooth_l1_loss(x, y, reduction, beta)
            accuracy.check(row, got, expected, x, y, context=(beta, reduction))
    accuracy.check_share(row)


@settings(max_examples=300, deadline=None)
@given(
    inputs=st.tuples(*[st.floats(width=32) for _ in range(2)]),
    beta=st.floats(0, width=32),
    reduction=st.sampled_from([0, 1, 2]),
)
def test_any_float32(inputs: tuple[float, float], beta: float, reduction: int) -> None:
    """Law: no float32 inputs and no beta from 0 to infinity are more than 2 ULP off."""
    a, b = (np.array([value], np.float32) for value in inputs)
    got = softnpu.smooth_l1_loss(a, b, reduction, beta)
    expected = reference.smooth_l1_loss(a, b, reduction, beta)
    assert distance(got, expected, zero_sign=True).max() <= 2


@pytest.mark.parametrize("beta", [10.0, 3.0, 13.7, 11.0, 1 / 3, 0.7, 8.0, 1.0, 0.0])
def test_the_worst_is_within_two_units(beta: float) -> None:
    """Law: where every rounding is unlucky, FLOAT is within 2 ULP of the exact value, unrounded."""
    self, target = sp.unlucky_differences(np.random.default_rng(91), 400_000)
    beta = float(np.float32(beta))
    for scale in np.linspace(0.25, 4, 16) * (beta or 1):
        a, b = (self * np.float32(scale)).astype(np.float32), (target * np.float32(scale))
        exact = reference.smooth_l1_loss(a, b, "none", beta)
        got = softnpu.smooth_l1_loss(a, b, "none", beta)
        unit = np.spacing(exact.astype(np.float32)).astype(np.float64)
        assert (np.abs(got - exact) / unit).max() <= 2


def test_results_that_are_nearly_subnormal() -> None:
    """Law: products that lose bits below the normal numbers are no part of a normal result."""
    rng = np.random.default_rng(55)
    for exponent in range(-75, -55):
        for beta in (1.0, 3.0, 2.0**-20, 1e-6, 2.0**20, 1e6):
            size = 2.0**exponent * beta**0.5
            a = (size * rng.uniform(1, 2, 2000)).astype(np.float32)
            b = (size * rng.uniform(-(2**-10), 2**-10, 2000)).astype(np.float32)
            got = softnpu.smooth_l1_loss(a, b, 0, beta)
            assert distance(got, reference.smooth_l1_loss(a, b, 0, beta)).max() <= 2


def test_the_sample() -> None:
    """Law: the arguments of the gradient's document give what the formula says."""
    a = np.arange(8, dtype=np.float32).reshape(4, 2)
    got = softnpu.smooth_l1_loss(a, np.ones_like(a), 0, 1.0)
    assert got.ravel().tolist() == [0.5, 0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_beta_zero_is_the_magnitude(dtype: np.dtype[Any]) -> None:
    """Law: beta 0 gives |d|, rounded once and never -0, of any numbers."""
    a, b = sp.random_bits(np.random.default_rng(56), (2, 100_000), dtype)
    a, b = np.append(a, sp.specials(dtype)), np.append(b, -sp.specials(dtype))
    got = softnpu.smooth_l1_loss(a, b, 0, 0.0)
    with np.errstate(all="ignore"):
        difference = np.abs(a.astype(np.float32) - b.astype(np.float32))
    expected = reference.round_to(difference.astype(np.float64), dtype)
    assert distance(got, expected.astype(np.float64), zero_sign=True).max() == 0


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.7])
def test_the_gradient_is_its_slope(beta: float) -> None:
    """Law: difference quotients of the loss are what smooth_l1_loss_backward gives."""
    rng = np.random.default_rng(57)
    x, target = sp.random_values(rng, (2, 10_000), sp.FLOAT32)
    step = np.float64(2.0**-20)
    above = reference.smooth_l1_loss(x + step, target, "none", beta)
    below = reference.smooth_l1_loss(x - step, target, "none", beta)
    grad = softnpu.smooth_l1_loss_backward(np.ones_like(x), x, target, "none", beta)
    np.testing.assert_allclose(grad, (above - below) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("names", [(0, 1), (1, 0), (2, 1), (0, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_mixed_types_are_promoted(names: tuple[int, int], reduction: Any) -> None:
    """Law: mixed inputs meet in FLOAT."""
    rng = np.random.default_rng(52)
    a, b = (sp.random_values(rng, 20_000, sp.FLOATING[i]) for i in names)
    got = softnpu.smooth_l1_loss(a, b, reduction, 1.5)
    assert got.dtype == sp.FLOAT32
    assert distance(got, reference.smooth_l1_loss(a, b, reduction, 1.5)).max() <= 2


@pytest.mark.parametrize("target", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_casts_round_the_float32_result_once(
    reduction: Any, dtype: np.dtype[Any], target: np.dtype[Any]
) -> None:
    """Law: an output of another type holds the float32 result, rounded once to that type."""
    a, b = sp.random_values(np.random.default_rng(53), (2, 50_000), dtype)
    shape = a.shape if reduction == "none" else ()
    wide = np.empty(shape, np.float32)
    softnpu.smooth_l1_loss(a, b, reduction, 1.5, out=wide)
    got = softnpu.smooth_l1_loss(a, b, reduction, 1.5, out=np.empty(shape, target))
    assert same_bits(got, reference.round_to(wide.astype(np.float64), target))
