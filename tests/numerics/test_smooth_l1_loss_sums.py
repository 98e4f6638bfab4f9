# SPDX-License-Identifier: Apache-2.0
"""Means and sums of smooth_l1_loss: exact to a rounding, and the same bits however they are read.

tests/numerics/test_smooth_l1_loss.py has the formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import distance, same_bits
from tests.support import laws
from tests.support import specials as sp
from tests.support.layouts import Layout, any_layout, any_shape, place

Array = npt.NDArray[Any]
# Around vectors, tiles, the threads' grain, and what is shared by threads.
SIZES = [1, 2, 7, 8, 9, 31, 32, 33, 1023, 1024, 1025, 2049, 8191, 8192, 24_577, 100_003, 3_000_001]


def check(a: Array, b: Array, beta: float = 1.0, most: int = 1) -> None:
    """Assert that mean and sum are as exact as they should be."""
    for reduction in ("mean", "sum"):
        got = softnpu.smooth_l1_loss(a, b, reduction, beta)
        expected = reference.smooth_l1_loss(a, b, reduction, beta)
        assert distance(got, expected).max() <= most, (reduction, got, expected)


@pytest.mark.parametrize("n", SIZES)
def test_sizes(n: int) -> None:
    """Law: no element is left out or taken twice, whatever the number of them."""
    a = np.arange(n, dtype=np.float32) % np.float32(1000)
    check(a, np.float32(-1) - np.zeros_like(a))
    for at in {0, n // 3, n - 1}:
        alone = np.zeros_like(a)
        alone[at] = 3
        assert softnpu.smooth_l1_loss(alone, np.zeros_like(a), "sum", 2.0) == 2


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("beta", [0.3])
def test_two_million_terms(dtype: np.dtype[Any], beta: float) -> None:
    """Law: 2 * 10**6 terms: of one value, whose errors have one sign; random; one beside many."""
    rng = np.random.default_rng(60)
    shape = (1999, 1003)
    zeros = np.zeros(shape, dtype)
    out = np.empty((), np.float32)
    one_large = np.full(shape, 2.0**-9, dtype)
    one_large[1234, 567] = 200.0
    for a in (np.full(shape, 0.1, dtype), sp.random_values(rng, shape, dtype), one_large):
        for reduction in ("mean", "sum"):
            softnpu.smooth_l1_loss(a, zeros, reduction, beta, out=out)
            expected = reference.smooth_l1_loss(a, zeros, reduction, beta)
            assert distance(out, expected).max() <= 1, (reduction, out, expected)


def repeated(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> list[Array]:
    """Arrays that broadcast to a shape: a row, columns, planes, a number, and a whole one."""
    whole = sp.random_values(rng, shape, dtype)
    return [whole, whole[:1], whole[..., :1], whole[:1, ..., :1], whole[:, :1], whole[:1, :1, :1]]


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(31, 67, 130), (2, 15, 9_001), (300, 401, 3)], ids=str)
def test_layouts_of_many(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Law: order, gaps, broadcasts and the number of threads change no bit of a large sum."""
    rng = np.random.default_rng(61)
    layouts = [
        Layout("transposed", order="F"),
        Layout("channels-last", order="last", offset=1),
        Layout("first axis innermost", order=(1, 2, 0)),
        Layout("every second, reversed", steps=(1, 1, -2)),
        Layout("rows with gaps", pads=(0, 0, 3)),
    ]
    for full in repeated(rng, shape, dtype):
        a, b = full, sp.random_values(rng, shape, dtype)
        whole = np.broadcast_to(a, shape).copy()
        expected = softnpu.smooth_l1_loss(whole, b, "sum", 0.7)
        for layout in layouts:
            moved = place(b, layout).view
            for x, y in ((a, moved), (moved, a), (place(a, layout).view, moved)):
                for count in (1, 4):
                    with laws.threads(count):
                        got = softnpu.smooth_l1_loss(x, y, "sum", 0.7)
                    assert same_bits(got, expected), (a.shape, layout.name, count)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), shape=any_shape(8, 6000), seed=st.integers(0, 2**32))
def test_any_shapes_that_broadcast(data: st.DataObject, shape: tuple[int, ...], seed: int) -> None:
    """Law: any shapes, types and layouts give the bits of full-size contiguous copies."""
    rng = np.random.default_rng(seed)
    arrays = []
    for _ in range(2):
        short = [1 if data.draw(st.booleans()) else size for size in shape]
        short = short[data.draw(st.integers(0, len(shape))) :]
        kind = data.draw(st.sampled_from(sp.FLOATING))
        values = sp.random_values(rng, tuple(short), kind)
        arrays.append(place(values, data.draw(any_layout())).view)
    whole = np.broadcast_shapes(*(array.shape for array in arrays))
    a, b = (np.broadcast_to(array, whole).copy() for array in arrays)
    got = softnpu.smooth_l1_loss(arrays[0], arrays[1], "mean", 0.5)
    assert same_bits(got, softnpu.smooth_l1_loss(a, b, "mean", 0.5))
    assert distance(got, reference.smooth_l1_loss(a, b, "mean", 0.5)).max() <= 1


def magnitudes(rng: np.random.Generator, n: int, low: float, high: float) -> Array:
    """Numbers of both signs from 2**low to 2**high, all magnitudes alike."""
    sign = rng.choice([-1, 1], n)
    return (sign * 2.0 ** rng.uniform(low, high, n)).astype(np.float32)


@pytest.mark.parametrize("beta", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("high", [127.9, 60, 2, -0.6, -26, -70, -120])
def test_order_does_not_matter(high: float, beta: float) -> None:
    """Law: a sum of terms of all magnitudes is exact to a rounding, and the same in any order.

    Its largest terms come first, last, and anywhere, so that limbs are found late and soon.
    """
    rng = np.random.default_rng(64)
    a = magnitudes(rng, 50_000, -140, high)
    zeros = np.zeros_like(a)
    expected = reference.smooth_l1_loss(a, zeros, "sum", beta)
    up = np.sort(np.abs(a))
    results = [
        softnpu.smooth_l1_loss(x, zeros, "sum", beta) for x in (a, up, up[::-1], rng.permutation(a))
    ]
    assert distance(results[0], expected).max() <= 1
    assert all(same_bits(result, results[0]) for result in results)


@pytest.mark.parametrize("exponent", range(-110, -98, 1))
@pytest.mark.parametrize("first", [1, 0.999999, 1.000001])
def test_terms_at_the_edge_of_a_limb(first: float, exponent: int) -> None:
    """Law: a largest term just below or above where the next limb begins loses no others."""
    many = np.full(5000, 2.0 ** (exponent / 2) * first, np.float32)
    many[1::2] *= np.float32(2.0**-12)
    for scale in (1, 2.0**26, 2.0**52, 2.0**104):
        a = many * np.float32(scale)
        for x in (a, a[::-1]):
            for beta in (0.0, 1.0):
                got = softnpu.smooth_l1_loss(x, np.zeros_like(x), "sum", beta)
                expected = reference.smooth_l1_loss(x, np.zeros_like(x), "sum", beta)
                assert distance(got, expected).max() <= 1


def test_shapes_of_the_same_elements() -> None:
    """Law: the shape in which elements come does not matter."""
    a, b = sp.random_values(np.random.default_rng(62), (2, 7 * 11 * 13 * 96), sp.FLOAT32)
    flat = softnpu.smooth_l1_loss(a, b, "sum", 0.7)
    for shape in ((7, 11, 13, 96), (96 * 7, 143), (1, -1), (13 * 7 * 11 * 48, 2)):
        assert same_bits(softnpu.smooth_l1_loss(a.reshape(shape), b.reshape(shape), 2, 0.7), flat)


def test_terms_beyond_float32() -> None:
    """Law: only the result can overflow or vanish, not a term, nor a sum on the way to a mean."""
    big = np.full(4, 3e38, np.float32)
    target = np.array([3e38, 3e38, 3e38, -3e38], np.float32)
    assert softnpu.smooth_l1_loss(big, target, "sum", 1.0) == np.float32(np.inf)
    check(big, target)
    tiny = np.full(100_000, 2.0**-78, np.float32)  # terms of 2**-157
    check(tiny, np.zeros_like(tiny), most=0)
    assert softnpu.smooth_l1_loss(tiny, np.zeros_like(tiny), "sum", 1.0) > 0


@pytest.mark.parametrize("n", [6, 40, 5000, 300_000])
def test_infinities_and_nan(n: int) -> None:
    """Law: an infinite term makes an infinite sum, one NaN makes it the one quiet NaN."""
    a, b = sp.random_values(np.random.default_rng(63), (2, n), sp.FLOAT32)
    a[n // 2] = -np.inf
    assert softnpu.smooth_l1_loss(a, b, "mean", 1.0) == np.inf
    a[n // 3] = np.array(0xFFC12345, np.uint32).view(np.float32)
    quiet = np.array(np.nan, np.float32)
    assert same_bits(softnpu.smooth_l1_loss(a, b, "mean", 1.0), quiet)
    b[n // 2] = -np.inf
    a[n // 3] = 1
    assert same_bits(softnpu.smooth_l1_loss(a, b, "sum", 1.0), quiet)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5, 2)], ids=str)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_nothing(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Law: the mean of nothing is NaN, its sum 0, whatever result held."""
    none = np.zeros(shape, dtype)
    for reduction, value in (("mean", np.nan), ("sum", 0.0)):
        expected = np.array([value], np.float32).astype(dtype)
        out = np.full(1, 7, dtype)
        assert softnpu.smooth_l1_loss(none, none[:1], reduction, 1.0, out=out) is out
        assert same_bits(out, expected)
        assert same_bits(softnpu.smooth_l1_loss(none, none, reduction, 1.0), expected[0, ...])


def test_result_in_the_place_of_an_input() -> None:
    """Law: a result of one element may be self, even where target has more."""
    place_of_both = np.array([3], np.float32)
    target = np.arange(6, dtype=np.float32).reshape(2, 3)
    softnpu.smooth_l1_loss(place_of_both, target, "sum", 1.0, out=place_of_both)
    assert place_of_both.tolist() == [2.5 + 1.5 + 0.5 + 0 + 0.5 + 1.5]
