# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d_backward against its float64 definition.

Ranges of the accuracy table: "small boxes" sums up to 60 terms around 0; "small boxes, all bits"
takes them from all finite bit patterns that cannot overflow on the way; "million terms" sums 10**6
terms, along one axis or several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import distance, same_bits
from tests.support import accuracy
from tests.support import specials as sp
from tests.support.upsample import Array, Sizes, both

Batch = tuple[Array, Sizes]

WHOLE = 10**6
MILLIONS: list[Sizes] = [
    (1, 1, WHOLE),
    (1, WHOLE, 1),
    (WHOLE, 1, 1),
    (100, 100, 100),
    (1, 10, 10**5),
]


def small_boxes(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Sum ordinary terms of both signs, in boxes of several shapes."""
    for outer, inner in [
        ((40, 40, 40), (20, 20, 20)),
        ((37, 22, 51), (11, 9, 17)),
        ((60, 61, 62), (15, 16, 17)),
    ]:
        yield sp.random_values(rng, (2, 3, *outer), dtype), inner


def small_boxes_all_bits(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Sum finite terms of all magnitudes below the square root of the largest."""
    limit = math.sqrt(float(np.float32(3e38))) if dtype != sp.FLOAT16 else 2000.0
    for grad, inner in small_boxes(rng, dtype):
        terms = sp.random_bits(rng, grad.shape, dtype)
        usable = np.abs(terms.astype(np.float64)) < limit
        yield np.where(usable, terms, np.zeros_like(terms)), inner


def million_terms(rng: np.random.Generator, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Sum 10**6 terms: of one sign, where errors pile up, of both, and all the same."""
    spread = 0.01 if dtype == sp.FLOAT16 else 1.0
    for outer in MILLIONS:
        normal = sp.random_values(rng, (1, 1, *outer), dtype, spread)
        for terms in (np.abs(normal), normal, np.full_like(normal, 0.1 * spread)):
            yield terms, (1, 1, 1)


RANGES: dict[str, Callable[[np.random.Generator, np.dtype[Any]], Iterator[Batch]]] = {
    "small boxes": small_boxes,
    "small boxes, all bits": small_boxes_all_bits,
    "million terms": million_terms,
}


@pytest.mark.parametrize("row", accuracy.rows("upsample_nearest3d_backward"))
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, however many terms a sum has."""
    for grad, inner in RANGES[row.range](np.random.default_rng(30), row.dtype):
        got, expected = both(grad, inner)
        accuracy.check(row, got, expected, context=(grad.shape, inner))
    accuracy.check_share(row)


@pytest.mark.parametrize("outer", MILLIONS, ids=str)
def test_double_sums_are_as_good_as_pairwise(outer: Sizes) -> None:
    """Law: a DOUBLE sum of n terms is off by at most log2(n) * 2**-53 * sum(|x|)."""
    rng = np.random.default_rng(31)
    for grad in (rng.random((1, 1, *outer)), np.full((1, 1, *outer), 0.1)):
        got, exact = both(grad, (1, 1, 1))
        bound = math.ceil(math.log2(grad.size)) * 2.0**-53 * float(np.abs(grad).sum())
        assert abs(got.item() - exact.item()) <= bound


def test_double_sums_of_both_signs() -> None:
    """Law: the same bound holds for every sum of few terms of both signs."""
    grad = np.random.default_rng(32).standard_normal((2, 2, 33, 34, 35))
    got, exact = both(grad, (9, 10, 11))
    _, weight = both(np.abs(grad), (9, 10, 11))
    assert (np.abs(got - exact) <= math.log2(64) * 2.0**-53 * weight).all()


def shares(size: int, out: int, axis: int, scale: float = 0.0) -> list[int]:
    """Return how many elements each input element gets on one axis, from a gradient of ones."""
    outer, inner = [1, 1, 1], [1, 1, 1]
    outer[axis], inner[axis] = out, size
    scales = [1.0, 1.0, 1.0] if scale else [0.0, 0.0, 0.0]
    scales[axis] = scale
    grad = np.ones((1, 1, *outer))
    got = softnpu.upsample_nearest3d_backward(grad, outer, [1, 1, *inner], *scales)
    return [int(count) for count in got.ravel()]


def test_ceil_decides_where_a_range_starts() -> None:
    """Law: 82 elements over 2 are split 41 : 41; the last half starts at exactly 41."""
    for axis in range(3):
        grad = np.zeros((1, 1, *(82 if i == axis else 1 for i in range(3))), np.float32)
        grad.ravel()[41] = 1
        inner = tuple(2 if i == axis else 1 for i in range(3))
        got = softnpu.upsample_nearest3d_backward(grad, grad.shape[2:], [1, 1, *inner])
        assert got.ravel().tolist() == [0, 1]
        assert shares(2, 82, axis) == [41, 41]


@settings(max_examples=200, deadline=None)
@given(size=st.integers(1, 300), out=st.integers(1, 3000), axis=st.integers(0, 2))
def test_ranges_without_scales(size: int, out: int, axis: int) -> None:
    """Law: ranges start where float32 arithmetic says, and each element lands once."""
    got = shares(size, out, axis)
    assert got == np.diff(reference_starts(size, out, None)).tolist()
    assert sum(got) == out


@settings(max_examples=200, deadline=None)
@given(size=st.integers(1, 300), scale=st.floats(0.01, 30), axis=st.integers(0, 2))
def test_ranges_with_given_scales(size: int, scale: float, axis: int) -> None:
    """Law: a given scale is rounded to float32 and used in place of out / in."""
    out = math.floor(size * scale)
    if out > 0:
        assert (
            shares(size, out, axis, scale) == np.diff(reference_starts(size, out, scale)).tolist()
        )


def reference_starts(size: int, out: int, scale: float | None) -> list[int]:
    """Return start(i) one at a time, by the sheet's words."""
    step = np.float32(scale) if scale is not None else np.float32(out) / np.float32(size)
    return [min(math.ceil(float(np.float32(i) * step)), out) for i in range(size + 1)]


@pytest.mark.parametrize("missing", range(3))
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_scales_count_only_when_all_are_given(missing: int, value: float) -> None:
    """Law: unless all three scales are above 0, all three axes use out / in."""
    grad = sp.random_values(np.random.default_rng(33), (1, 1, 50, 50, 50), sp.FLOAT64)
    sizes = (50, 50, 50), (1, 1, 20, 20, 20)
    scales = [2.549 if axis != missing else value for axis in range(3)]
    without = softnpu.upsample_nearest3d_backward(grad, *sizes)
    given_all = softnpu.upsample_nearest3d_backward(grad, *sizes, 2.549, 2.549, 2.549)
    assert not same_bits(without, given_all)
    assert same_bits(softnpu.upsample_nearest3d_backward(grad, *sizes, *scales), without)


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
def test_infinities_and_nan_stay_in_their_box(dtype: np.dtype[Any]) -> None:
    """Law: inf, inf - inf, NaN and an overflowing sum show in the one box that holds them."""
    grad = np.ones((1, 1, 1, 1, 10), dtype)
    largest = sp.specials(dtype)
    largest = largest[np.isfinite(largest)].max()
    row = grad[0, 0, 0, 0]
    row[0], row[2], row[3], row[4], row[6:8] = np.inf, np.inf, -np.inf, np.nan, largest
    got, expected = both(grad, (1, 1, 5))
    assert distance(got, expected).max() == 0
    np.testing.assert_array_equal(
        got.ravel().astype(np.float64), [np.inf, np.nan, np.nan, np.inf, 2]
    )


@pytest.mark.parametrize("inner", [(5, 6, 8), (2, 3, 4), (1, 1, 1), (5, 6, 11)], ids=str)
@pytest.mark.parametrize("layout", ["NCDHW", "NDHWC"])
@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
def test_zero_sums_have_the_sign_of_ieee_754(
    dtype: np.dtype[Any], layout: str, inner: Sizes
) -> None:
    """Law: a sum of nothing but -0 is -0, in any order of adding; every other zero sum is +0."""
    rng = np.random.default_rng(35)
    grad = np.where(rng.random((2, 3, 5, 6, 8)) < 0.02, 0.0, -0.0).astype(dtype)
    grad[0, 0] = np.array(-0.0, dtype)
    if layout == "NDHWC":
        grad, size = np.moveaxis(grad, 1, -1).copy(), (2, *inner, 3)
    else:
        size = (2, 3, *inner)
    got = softnpu.upsample_nearest3d_backward(grad, (5, 6, 8), size, format=layout)
    expected = reference.upsample_nearest3d_backward(grad, (5, 6, 8), size, format=layout)
    assert np.signbit(expected).any()
    assert distance(got, expected, zero_sign=True).max() == 0


def test_empty_ranges_give_zero() -> None:
    """Law: when a gradient is larger than what it was copied to, elements without copies get +0."""
    grad = np.full((1, 1, 1, 1, 3), 7, np.float32)
    got = softnpu.upsample_nearest3d_backward(grad, [1, 1, 3], [1, 1, 1, 1, 7])
    counts = np.diff(reference_starts(7, 3, None))
    assert (counts == 0).sum() == 4
    assert same_bits(got.ravel(), (7 * counts).astype(np.float32))
