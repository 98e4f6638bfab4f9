# SPDX-License-Identifier: Apache-2.0
"""selu and selu_backward of integers against exact arithmetic: truncated and saturated."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import softnpu
from softnpu.judging.ulp import same_bits
from tests.support import specials as sp
from tests.support.layouts import LAYOUTS, Layout, place

LAMBDA = Fraction("1.0507009873554804934193349852946")
LAMBDA_ALPHA = Fraction("1.7580993408473768599402175208123")
INT32 = np.iinfo(np.int32)


def saturated(value: Fraction, low: int, high: int) -> int:
    """An exact value as an integer result."""
    return min(max(int(value), low), high)


def forward(x: int) -> Fraction:
    """What selu is, to 50 digits."""
    with localcontext() as context:
        context.prec = 50
        return LAMBDA * x if x > 0 else LAMBDA_ALPHA * Fraction(Decimal(max(x, -200)).exp() - 1)


def backward(grad: int, result: int) -> Fraction:
    """What its gradient is."""
    return grad * (result + LAMBDA_ALPHA) if result < 0 else grad * LAMBDA


def test_every_int8() -> None:
    """Law: all INT8, and all 65536 pairs of them."""
    every = np.arange(-128, 128).astype(np.int8)
    exact = [saturated(forward(int(x)), -128, 127) for x in every]
    np.testing.assert_array_equal(softnpu.selu(every), exact)
    g, y = sp.all_pairs(every, every)
    exact = [saturated(backward(int(a), int(b)), -128, 127) for a, b in zip(g, y, strict=True)]
    np.testing.assert_array_equal(softnpu.selu_backward(g, y), np.array(exact, np.int8))


def test_int32_loses_no_input_bit() -> None:
    """Law: INT32 is the exact result truncated toward zero and saturated."""
    edges = [INT32.min, -(2**24) - 1, *range(-50, 51), 2**24 + 1, 2043831706, 2043831707, INT32.max]
    drawn = np.random.default_rng(61).integers(INT32.min, INT32.max, 20_000)
    x = np.concatenate([edges, drawn]).astype(np.int32)
    exact = [saturated(forward(int(v)), INT32.min, INT32.max) for v in x]
    np.testing.assert_array_equal(softnpu.selu(x), exact)


def test_gradients_of_int32_lose_no_input_bit() -> None:
    """Law: INT32 is the float64 result truncated toward zero and saturated.

    Expected values are exact; a float64 result may fall on the other side of an integer only where
    the exact one lies within its rounding error of it.
    """
    rng = np.random.default_rng(41)
    edges = np.array([INT32.min, INT32.min + 1, -(2**24) - 1, -2, -1, 0, 1, 2**24 + 1, INT32.max])
    small = rng.integers(-60_000, 60_000, (2, 20_000))
    huge = np.stack([rng.integers(INT32.min, INT32.max, 20_000), rng.integers(-3, 3, 20_000)])
    pairs = np.concatenate([sp.all_pairs(edges, edges), small, huge], axis=1).astype(np.int32)
    got = softnpu.selu_backward(pairs[0].copy(), pairs[1].copy())
    assert got.dtype == np.int32
    for a, b, value in zip(*pairs.tolist(), got.tolist(), strict=True):
        exact = backward(a, b)
        if value != saturated(exact, INT32.min, INT32.max):
            assert abs(exact - round(exact)) < abs(exact) / 2**50, (a, b, value, float(exact))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("kind", [np.int32, np.int8])
def test_in_place_writes_what_selu_computes(kind: type, layout: Layout) -> None:
    """Law: selu_ has selu's bits in any layout, returns its argument, and writes nothing else."""
    x = sp.random_values(np.random.default_rng(62), (3, 5, 7), np.dtype(kind))
    placed = place(x, layout)
    assert softnpu.selu_(placed.view) is placed.view
    assert same_bits(placed.view, softnpu.selu(x))
    assert placed.surroundings_unchanged()
