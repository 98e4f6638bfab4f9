# SPDX-License-Identifier: Apache-2.0
"""selu_backward against its float64 definition, and its integers against exact arithmetic.

Ranges of the accuracy table: "all bits" and "every pattern" take inputs from the whole type;
"cancelling" takes results next to -lambda*alpha; "ordinary" takes inputs around 0; "specials" takes
all pairs of edge values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
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

Batch = tuple[npt.NDArray[Any], npt.NDArray[Any]]

LAMBDA = Fraction("1.0507009873554804934193349852946")
LAMBDA_ALPHA = Fraction("1.7580993408473768599402175208123")


def all_bits(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw both inputs from all bit patterns."""
    g, y = sp.random_bits(rng, (2, 1_000_000), dtype)
    yield g, y


def every_pattern(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all 65536 results, with a few gradients."""
    y = sp.every_bit_pattern(dtype)
    for grad in (1.0, -0.7, 3e-5, 1000.0, 0.01, 60000.0):
        yield np.full_like(y, grad), y


def cancelling(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take results within a few steps of -lambda*alpha."""
    for _ in range(20):
        y = sp.neighbours([-float(LAMBDA_ALPHA)], dtype, 100)
        yield sp.random_values(rng, y.shape, dtype), y


def ordinary(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Draw inputs around 0."""
    g, y = sp.random_values(rng, (2, 1_000_000), dtype)
    yield g, np.maximum(y, np.array(-1.7578125, dtype))


def edge_values(_rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Take all pairs of edge values."""
    y = np.concatenate([sp.specials(dtype), sp.neighbours([-float(LAMBDA_ALPHA)], dtype)])
    g, y = sp.all_pairs(sp.specials(dtype), y)
    yield g, y


RANGES: dict[str, Callable[[np.random.Generator, np.dtype[Any]], Iterator[Batch]]] = {
    "all bits": all_bits,
    "every pattern": every_pattern,
    "cancelling": cancelling,
    "ordinary": ordinary,
    "specials": edge_values,
}


@pytest.mark.parametrize("row", accuracy.rows("selu_backward"))
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    for g, y in RANGES[row.range](np.random.default_rng(40), row.dtype):
        got = softnpu.selu_backward(g, y)
        accuracy.check(row, got, reference.selu_backward(g, y), g, y)
    accuracy.check_share(row)


@settings(max_examples=100, deadline=None)
@given(g=st.floats(width=32), y=st.floats(width=32))
def test_any_float32(g: float, y: float) -> None:
    """Law: no pair of float32 inputs is more than 2 ULP off."""
    grad, result = np.array([g], np.float32), np.array([y], np.float32)
    got = softnpu.selu_backward(grad, result)
    assert distance(got, reference.selu_backward(grad, result), zero_sign=True).max() <= 2


def test_document_sample() -> None:
    """Law: the document's sample gives lambda everywhere, at a result of 0 too."""
    y = np.arange(8, dtype=np.float32).reshape(4, 2)
    got = softnpu.selu_backward(np.ones_like(y), y)
    assert same_bits(got, np.full((4, 2), 1.0507009873554805, np.float32))


def test_every_pair_of_int8() -> None:
    """Law: all 65536 pairs of INT8 are truncated toward zero and saturated."""
    every = np.arange(-128, 128).astype(np.int8)
    g, y = sp.all_pairs(every, every)
    got = softnpu.selu_backward(g, y)
    exact = [_exact(int(a), int(b), -128, 127) for a, b in zip(g, y, strict=True)]
    np.testing.assert_array_equal(got, np.array(exact, np.int8))


def test_int32_loses_no_input_bit() -> None:
    """Law: INT32 is the float64 result truncated toward zero and saturated.

    Expected values are exact; a float64 result may fall on the other side of an integer only where
    the exact one lies within its rounding error of it.
    """
    rng = np.random.default_rng(41)
    info = np.iinfo(np.int32)
    edges = np.array([info.min, info.min + 1, -(2**24) - 1, -2, -1, 0, 1, 2**24 + 1, info.max])
    g, y = sp.all_pairs(edges, edges)
    small = rng.integers(-60_000, 60_000, (2, 20_000))
    huge = np.stack([rng.integers(info.min, info.max, 20_000), rng.integers(-3, 3, 20_000)])
    pairs = np.concatenate([np.stack([g, y]), small, huge], axis=1).astype(np.int32)
    got = softnpu.selu_backward(pairs[0].copy(), pairs[1].copy())
    assert got.dtype == np.int32
    for a, b, value in zip(*pairs.tolist(), got.tolist(), strict=True):
        exact = _exact_value(a, b)
        if value != _exact(a, b, info.min, info.max):
            assert abs(exact - round(exact)) < abs(exact) / 2**50, (a, b, value, float(exact))


def _exact_value(grad: int, result: int) -> Fraction:
    return grad * (result + LAMBDA_ALPHA) if result < 0 else grad * LAMBDA


def _exact(grad: int, result: int, low: int, high: int) -> int:
    return min(max(int(_exact_value(grad, result)), low), high)
