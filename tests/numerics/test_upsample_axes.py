# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d_backward of tensors that are flat or have small planes: what axes change that
have one element, and those that are made one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from softnpu.judging.ulp import distance, same_bits
from tests.support import specials as sp
from tests.support.layouts import Layout, place, place_output
from tests.support.upsample import Sizes, both, channels_last

# Sizes with one element along an axis, to which the axes outside it move.
OF_ONE: list[tuple[Sizes, Sizes]] = [
    ((9, 37, 1), (5, 18, 1)),
    ((6, 40, 1), (6, 80, 1)),
    ((12, 90, 1), (12, 41, 1)),
    ((7, 35, 1), (3, 35, 1)),
    ((4, 12, 1), (4, 3, 1)),
    ((15, 1, 33), (6, 1, 44)),
    ((70, 1, 1), (33, 1, 1)),
    ((1, 45, 1), (1, 15, 1)),
    ((1, 1300, 1), (1, 640, 1)),
]


def wide_values(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return values of many magnitudes, and some -0."""
    values = sp.random_values(rng, shape, dtype)
    values = (values * 2.0 ** rng.integers(-20, 21, shape)).astype(dtype)
    values[rng.random(shape) > 0.9] = -0.0
    return values


def values_of_first(grad: npt.NDArray[Any], inner: Sizes, count: int) -> npt.NDArray[Any]:
    """Return the result's first elements where each axis of one has `count` that are like it."""
    beside = [count if size == 1 else 1 for size in grad.shape[2:]]
    d, h, w = (size * times for size, times in zip(inner, beside, strict=True))
    got, _ = both(np.tile(grad, (1, 1, *beside)), (d, h, w))
    return got[:, :, : inner[0], : inner[1], : inner[2]].copy()


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize(("outer", "inner"), OF_ONE, ids=str)
def test_axes_of_one_element(dtype: np.dtype[Any], outer: Sizes, inner: Sizes) -> None:
    """Law: one element along an axis gives the bits that it gives with others like it."""
    rng = np.random.default_rng(45)
    for channels in (1, 3, 12):
        grad = wide_values(rng, (2, channels, *outer), dtype)
        got, expected = both(grad, inner)
        assert distance(got, expected).max() <= 1
        assert same_bits(values_of_first(grad, inner, 2), got)
        assert same_bits(channels_last(grad, inner), got)


@pytest.mark.parametrize("dtype", [sp.FLOAT32, sp.BFLOAT16, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize(("outer", "inner"), OF_ONE, ids=str)
def test_axes_of_one_element_keep_the_order(
    dtype: np.dtype[Any], outer: Sizes, inner: Sizes
) -> None:
    """Law: sums whose value depends on their order, too."""
    rng = np.random.default_rng(46)
    terms = np.array([2.0**53, -(2.0**53), 1.0, 0.5, -3.0])
    grad = rng.choice(terms, (1, 4, *outer)).astype(dtype)
    assert same_bits(*(values_of_first(grad, inner, times) for times in (1, 2)))


# Sizes with axes along which nothing is added up: rows, planes and channels that are made one.
SMALL: list[tuple[Sizes, Sizes]] = [
    ((6, 1, 4), (6, 2, 4)),
    ((12, 1, 3), (12, 2, 12)),
    ((2, 2, 4), (3, 2, 4)),
    ((9, 12, 1), (9, 12, 3)),
    ((4, 1, 18), (4, 2, 6)),
    ((9, 1, 1), (31, 2, 1)),
    ((1, 1, 6), (1, 1, 3)),
    ((1, 1, 5), (1, 1, 5)),
    ((3, 4, 23), (3, 4, 46)),
    ((7, 8, 3), (3, 8, 3)),
    ((1, 12, 7), (1, 8, 14)),
    ((3, 5, 11), (3, 2, 16)),
    ((4, 14, 14), (4, 7, 7)),
    ((5, 3, 40), (5, 6, 20)),
    ((1, 300, 5), (1, 300, 2)),
    ((8, 9, 4), (12, 3, 4)),
    ((1, 12, 2), (2, 8, 2)),
]


# A gap behind the elements of each axis but the first.
APART = [Layout("apart", pads=tuple(int(k == axis) for k in range(5))) for axis in range(1, 5)]


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize(("outer", "inner"), SMALL, ids=str)
def test_small_planes(dtype: np.dtype[Any], outer: Sizes, inner: Sizes) -> None:
    """Law: where one axis does not follow the next, elements have the bits that they have where all
    do, in either tensor.
    """
    rng = np.random.default_rng(47)
    for batch, channels in ((1, 1), (1, 6), (3, 7), (2, 32)):
        grad = wide_values(rng, (batch, channels, *outer), dtype)
        got, expected = both(grad, inner)
        assert distance(got, expected).max() <= 1
        assert same_bits(channels_last(grad, inner), got)
        for layout in APART:
            case = (batch, channels, layout.pads)
            out = place_output(got.shape, dtype, layout)
            softnpu.upsample_nearest3d_backward(grad, outer, got.shape, out=out.view)
            assert same_bits(out.view.copy(), got), case
            assert out.surroundings_unchanged(), case
            placed = place(grad, layout).view
            from_apart = softnpu.upsample_nearest3d_backward(placed, outer, got.shape)
            assert same_bits(from_apart, got), case


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize("width", [8_001, 20_000, 24_003, 40_000, 50_001], ids=str)
def test_few_long_rows(dtype: np.dtype[Any], width: int) -> None:
    """Law: rows that are made without lists of what belongs together, because there are few of
    them, have the bits that they have among many.
    """
    grad = sp.random_values(np.random.default_rng(48), (1, 9, 1, 1, width), dtype)
    size = (1, 9, 1, 1, 20_000)
    many = softnpu.upsample_nearest3d_backward(grad, (1, 1, width), size)
    few, expected = both(grad[:, :2], (1, 1, 20_000))
    assert distance(few, expected).max() <= 1
    assert same_bits(few, many[:, :2].copy())
