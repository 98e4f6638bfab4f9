# SPDX-License-Identifier: Apache-2.0
"""smooth_l1_loss and its gradient where roundings are unlucky, and of mixed types.

test_elementwise.py has what other operators have, too, test_smooth_l1_loss_sums.py the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import reference
from softnpu.judging.ulp import distance
from tests.support import specials as sp


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


@pytest.mark.parametrize("beta", [10.0, 3.0, 13.7, 11.0, 1 / 3, 0.7, 8.0, 1.0])
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_the_worst_gradient_is_within_two_units(beta: float, reduction: str) -> None:
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


@pytest.mark.parametrize("names", [(0, 1), (1, 0), (2, 1), (0, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_mixed_types_are_promoted(names: tuple[int, int], reduction: Any) -> None:
    """Law: mixed inputs meet in FLOAT."""
    rng = np.random.default_rng(52)
    a, b = (sp.random_values(rng, 20_000, sp.FLOATING[i]) for i in names)
    got = softnpu.smooth_l1_loss(a, b, reduction, 1.5)
    assert got.dtype == sp.FLOAT32
    assert distance(got, reference.smooth_l1_loss(a, b, reduction, 1.5)).max() <= 2


@pytest.mark.parametrize("names", [(0, 1, 2), (1, 1, 0), (2, 2, 1), (1, 2, 2), (1, 1, 2)], ids=str)
def test_mixed_types_of_the_gradient_are_promoted(names: tuple[int, int, int]) -> None:
    """Law: mixed inputs are promoted: equal types stay, all others meet in FLOAT."""
    rng = np.random.default_rng(52)
    kinds = [sp.FLOATING[i] for i in names]
    g, a, b = (sp.random_values(rng, 20_000, kind) for kind in kinds)
    got = softnpu.smooth_l1_loss_backward(g, a, b, 0, 1.5)
    assert got.dtype == sp.FLOAT32
    expected = reference.smooth_l1_loss_backward(g, a, b, 0, 1.5)
    assert distance(got, expected, zero_sign=True).max() <= 2
