# SPDX-License-Identifier: Apache-2.0
"""smooth_l1_loss_backward against its float64 definition.

Ranges of the accuracy table, for each reduction: "all bits" and "every pattern" take inputs from
the whole type and beta from 1e-10 to 1e10; "near beta" takes differences next to -beta, 0 and beta;
"ordinary" takes inputs around 0 with common betas; "specials" takes all triples of edge values.
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
from tests.support.cases import Reduction

Array = npt.NDArray[Any]
Batch = tuple[Array, Array, Array, float]

CODES: dict[str, int] = {"none": 0, "mean": 1, "sum": 2}


def all_bits(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw all inputs from all bit patterns."""
    for _ in range(40):
        g, a, b = sp.random_bits(rng, (3, 25_000), dtype)
        yield g, a, b, sp.random_scalar(rng)
        yield g, a, np.where(rng.random(b.shape) < 0.5, b, np.zeros_like(b)), sp.random_scalar(rng)


def every_pattern(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all 65536 values of self, with a few targets, gradients and betas."""
    a = sp.every_bit_pattern(dtype)
    for grad, target in ((1.0, 0.0), (-0.7, 0.5), (3e-5, -100.0), (1000.0, 0.0)):
        for beta in (1.0, 0.3, sp.random_scalar(rng)):
            yield np.full_like(a, grad), a, np.full_like(a, target), beta


def near_beta(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take differences within a few steps of -beta, 0 and beta."""
    for beta in [0.5, 1.0, 2.5, *(sp.random_scalar(rng, -4, 4) for _ in range(50))]:
        a = np.concatenate([sp.neighbours([-beta, beta], dtype, 20), sp.specials(dtype)[:3]])
        a = np.concatenate([a, a, np.array([beta, -beta], np.float32).astype(dtype)])
        b = np.zeros_like(a)
        b[: a.size // 2] = sp.random_values(rng, a.size // 2, dtype, 1e-3)
        yield sp.random_values(rng, a.shape, dtype), a, b, beta


def ordinary(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw inputs around 0, with common betas."""
    for beta in (1.0, 0.1, 3.0, 7.3):
        g, a, b = sp.random_values(rng, (3, 250_000), dtype)
        yield g, a, b, beta


def edge_values(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all triples of edge values: overflowing differences, infinite and zero betas too."""
    edges = sp.specials(dtype)
    g, a, b = sp.all_pairs(edges, edges, edges)
    largest = float(np.finfo(np.float32).max)
    for beta in (0.0, 1e-45, 1e-38, 1.0, 2.0, largest, float("inf")):
        yield g, a, b, beta


RANGES: dict[str, Callable[[np.random.Generator, np.dtype[Any]], Iterator[Batch]]] = {
    "all bits": all_bits,
    "every pattern": every_pattern,
    "near beta": near_beta,
    "ordinary": ordinary,
    "specials": edge_values,
}


@pytest.mark.parametrize("row", accuracy.rows("smooth_l1_loss_backward"))
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    reduction, name = row.range.split(", ")
    for g, a, b, beta in RANGES[name](np.random.default_rng(50), row.dtype):
        grad = g[:1] if reduction == "mean" else g
        got = softnpu.smooth_l1_loss_backward(grad, a, b, CODES[reduction], beta)
        expected = reference.smooth_l1_loss_backward(grad, a, b, reduction, beta)
        accuracy.check(row, got, expected, g, a, b, context=(beta, reduction, grad[:1]))
    accuracy.check_share(row)


@settings(max_examples=150, deadline=None)
@given(
    inputs=st.tuples(*[st.floats(width=32) for _ in range(3)]),
    beta=st.floats(0, width=32),
    reduction=st.sampled_from([0, 1, 2]),
)
def test_any_float32(inputs: tuple[float, ...], beta: float, reduction: int) -> None:
    """Law: no float32 inputs and no beta from 0 to infinity are more than 2 ULP off."""
    g, a, b = (np.array([value], np.float32) for value in inputs)
    got = softnpu.smooth_l1_loss_backward(g, a, b, reduction, beta)
    expected = reference.smooth_l1_loss_backward(g, a, b, reduction, beta)
    assert distance(got, expected, zero_sign=True).max() <= 2


@pytest.mark.parametrize("sizes", [1, 40, 5000])
def test_a_large_gradient_of_a_difference_that_is_nearly_subnormal(sizes: int) -> None:
    """Law: what a product below the normal numbers loses does not come back with gradOut."""
    rng = np.random.default_rng(55)
    beta = float.fromhex("0x1.fc34c0p+29")
    edge = 2.0 ** rng.integers(-97, -91, sizes)  # their products with 1 / beta: 2**-127 to 2**-121
    a = (edge * rng.uniform(1, 2, sizes)).astype(np.float32)
    b = (a * rng.uniform(0, 2**-12, sizes)).astype(np.float32)
    g = (2.0 ** rng.integers(40, 90, sizes) * rng.uniform(1, 2, sizes)).astype(np.float32)
    g[0], a[0], b[0] = map(
        float.fromhex, ("0x1.f9913ap+60", "0x1.008e6p-95", "0x1.e7e044p-108")
    )  # it was 3 units off
    got = softnpu.smooth_l1_loss_backward(g, a, b, 0, beta)
    expected = reference.smooth_l1_loss_backward(g, a, b, 0, beta)
    assert distance(got, expected).max() <= 2


@pytest.mark.parametrize("name", ["none", "mean", "sum"])
def test_reductions_have_names(name: Reduction) -> None:
    """Law: "none", "mean" and "sum" are 0, 1 and 2; of them only the mean divides."""
    g, a, b = sp.random_values(np.random.default_rng(54), (3, 100), sp.FLOAT32)
    by_name = softnpu.smooth_l1_loss_backward(g, a, b, name, 1.0)
    assert same_bits(by_name, softnpu.smooth_l1_loss_backward(g, a, b, CODES[name], 1.0))
    plain = softnpu.smooth_l1_loss_backward(g, a, b, 0, 1.0)
    assert same_bits(by_name, plain) == (name != "mean")


def test_document_sample() -> None:
    """Law: the document's sample gives the document's result."""
    a = np.arange(8, dtype=np.float32).reshape(4, 2)
    one = np.ones_like(a)
    got = softnpu.smooth_l1_loss_backward(one, a, one, 0, 1.0)
    assert got.ravel().tolist() == [-1, 0, 1, 1, 1, 1, 1, 1]


def test_beta_zero_is_the_sign() -> None:
    """Law: beta 0 gives the sign of the difference, and 0 where there is none."""
    a = np.array([-2, -1e-45, 0, -0.0, 1e-45, 3, np.inf], np.float32)
    got = softnpu.smooth_l1_loss_backward(np.ones_like(a), a, np.zeros_like(a), 0, 0.0)
    assert got.tolist() == [-1, -1, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("shape", [(1,), (), (7, 1), (1, 11), (3, 7, 11)], ids=str)
def test_mean_divides_by_the_elements_of_self_with_target(shape: tuple[int, ...]) -> None:
    """Law: N counts the elements of self broadcast with target, whatever gradOut's shape."""
    rng = np.random.default_rng(51)
    g = sp.random_values(rng, shape, sp.FLOAT32)
    a, b = sp.random_values(rng, (7, 1), sp.FLOAT32), sp.random_values(rng, (1, 11), sp.FLOAT32)
    got = softnpu.smooth_l1_loss_backward(g, a, b, "mean", 2.0)
    plain = reference.smooth_l1_loss_backward(g, a, b, "none", 2.0)
    assert got.shape == plain.shape
    assert distance(got, plain / 77).max() <= 2


@pytest.mark.parametrize("names", [(0, 1, 2), (1, 1, 0), (2, 2, 1), (1, 2, 2), (1, 1, 2)], ids=str)
def test_mixed_types_are_promoted(names: tuple[int, int, int]) -> None:
    """Law: mixed inputs are promoted: equal types stay, all others meet in FLOAT."""
    rng = np.random.default_rng(52)
    kinds = [sp.FLOATING[i] for i in names]
    g, a, b = (sp.random_values(rng, 20_000, kind) for kind in kinds)
    got = softnpu.smooth_l1_loss_backward(g, a, b, 0, 1.5)
    assert got.dtype == sp.FLOAT32
    expected = reference.smooth_l1_loss_backward(g, a, b, 0, 1.5)
    assert distance(got, expected, zero_sign=True).max() <= 2


@pytest.mark.parametrize("target", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_casts_round_the_float32_result_once(dtype: np.dtype[Any], target: np.dtype[Any]) -> None:
    """Law: an output of another type holds the float32 result, rounded once to that type."""
    g, a, b = sp.random_values(np.random.default_rng(53), (3, 50_000), dtype)
    wide = np.empty(g.shape, np.float32)
    softnpu.smooth_l1_loss_backward(g, a, b, 0, 1.5, out=wide)
    got = softnpu.smooth_l1_loss_backward(g, a, b, 0, 1.5, out=np.empty(wide.shape, target))
    assert same_bits(got, reference.round_to(wide.astype(np.float64), target))


@pytest.mark.parametrize("beta", [10.0, 3.0, 13.7, 11.0, 1 / 3, 0.7, 8.0, 1.0])
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_the_worst_is_within_two_units(beta: float, reduction: str) -> None:
    """Law: where every rounding is unlucky, FLOAT is within 2 ULP of the exact value, unrounded."""
    rng = np.random.default_rng(91)
    self, target = sp.unlucky_differences(rng, 400_000)
    norm = 1 / self.size if reduction == "mean" else 1.0
    beta = float(np.float32(beta))
    for scale in (1.0, beta / 4):  # some differences are below beta in one of them
        a, b = (self * np.float32(scale)).astype(np.float32), (target * np.float32(scale))
        b = b.astype(np.float32)
        difference = a.astype(np.float64) - b
        slope = np.clip(difference / beta, -1, 1) * norm
        # A gradient that puts the result just below a power of two, where units are smallest.
        mantissa, _ = np.frexp(np.abs(slope))
        for step in range(8):
            grad = (rng.uniform(0.985, 1, a.shape) * (1 + step / 64) / mantissa).astype(np.float32)
            exact = grad * slope
            got = softnpu.smooth_l1_loss_backward(grad, a, b, reduction, beta)
            unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
            assert (np.abs(got - exact) / unit).max() <= 2
