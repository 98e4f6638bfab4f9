# SPDX-License-Identifier: Apache-2.0
"""The float64 definitions of upsampling and unpooling, against loops over exact positions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softnpu import reference
from softnpu.judging.ulp import same_bits


def float32_of(value: Fraction) -> Fraction:
    """Round a positive normal fraction to 24 bits, to nearest even, in integers only."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 24
    while value / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    return round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent


@settings(max_examples=300, deadline=None)
@given(size=st.integers(1, 50), out=st.integers(1, 2000), scale=st.none() | st.floats(0.01, 99))
@example(size=2, out=82, scale=None)
@example(size=3, out=14, scale=4.7)
def test_upsample_ranges(size: int, out: int, scale: float | None) -> None:
    """Law: start(i) = min(ceil(float32(i) * scale), out) with every float32 rounding by hand."""
    step = float32_of(Fraction(out, size) if scale is None else Fraction(scale))
    exact = [0] + [min(math.ceil(float32_of(i * step)), out) for i in range(1, size + 1)]
    grad = np.zeros((1, 1, 1, 1, out))
    # each element its own power of two: a sum shows exactly which elements are in it
    for first in range(0, out, 50):
        grad[...] = 0
        grad[0, 0, 0, 0, first : first + 50] = 2.0 ** np.arange(
            len(grad[..., first : first + 50].T)
        )
        given_scales = (0.0, 0.0, 0.0) if scale is None else (1.0, 1.0, scale)
        computed = reference.upsample_nearest3d_backward(
            grad, (1, 1, out), (1, 1, 1, 1, size), *given_scales
        )
        for i in range(size):
            terms = range(max(exact[i], first), min(exact[i + 1], first + 50))
            assert computed[0, 0, 0, 0, i] == sum(2.0 ** (z - first) for z in terms)


def test_upsample_sums_are_exact_in_three_axes() -> None:
    """Law: a box sum equals the exact sum rounded once, and both formats agree."""
    rng = np.random.default_rng(80)
    grad = rng.standard_normal((2, 3, 5, 6, 9)) * 10.0 ** rng.integers(-12, 12, (2, 3, 5, 6, 9))
    computed = reference.upsample_nearest3d_backward(grad, (5, 6, 9), (2, 3, 2, 3, 4))
    edges = [[0, 3, 5], [0, 2, 4, 6], [0, 3, 5, 7, 9]]
    for n, c, d, h, w in np.ndindex(computed.shape):
        cuts = [slice(e[i], e[i + 1]) for e, i in zip(edges, (d, h, w), strict=True)]
        exact = sum(map(Fraction, grad[n, c, cuts[0], cuts[1], cuts[2]].ravel().tolist()))
        assert computed[n, c, d, h, w] == float(exact)
    last = np.moveaxis(grad, 1, -1)
    for size in [(2, 2, 3, 4, 3), (2, 3, 2, 3, 4)]:
        again = reference.upsample_nearest3d_backward(last, (5, 6, 9), size, format="NDHWC")
        np.testing.assert_array_equal(np.moveaxis(again, -1, 1), computed)


def test_upsample_sums_beyond_the_numbers() -> None:
    """Law: only the whole sum can overflow; infinities and NaN add as IEEE 754 says."""
    big = np.finfo(np.float64).max
    rows = [[big, big, -big], [big, big, 0], [np.inf, 1, 1], [np.inf, -np.inf, 1], [np.nan, 1, 1]]
    grad = np.array(rows).reshape(1, 5, 1, 1, 3)
    computed = reference.upsample_nearest3d_backward(grad, (1, 1, 3), (1, 5, 1, 1, 1))
    np.testing.assert_array_equal(computed.ravel(), [big, np.inf, np.inf, np.nan, np.nan])


def test_upsample_sums_that_are_zero() -> None:
    """Law: only a sum of nothing but -0 is -0; an empty one, and any other zero sum, is +0."""
    rows = [[-0.0, -0.0], [-0.0, 0.0], [1.0, -1.0], [0.0, 0.0]]
    grad = np.array(rows).reshape(1, 4, 1, 1, 2)
    computed = reference.upsample_nearest3d_backward(grad, (1, 1, 2), (1, 4, 1, 1, 1))
    assert same_bits(computed.ravel(), np.array([-0.0, 0.0, 0.0, 0.0]))
    spread = reference.upsample_nearest3d_backward(grad, (1, 1, 2), (1, 4, 1, 1, 3))
    assert same_bits(spread[0, 0].ravel(), np.array([-0.0, -0.0, 0.0]))


@settings(max_examples=100, deadline=None)
@given(size=st.integers(1, 40), out=st.integers(1, 200), scale=st.none() | st.floats(0.01, 9))
@example(size=2, out=82, scale=None)
def test_upsample_sources(size: int, out: int, scale: float | None) -> None:
    """Law: element z copies the last i with start(i) <= z, every float32 rounding by hand."""
    step = float32_of(Fraction(out, size) if scale is None else Fraction(scale))
    starts = [0] + [min(math.ceil(float32_of(i * step)), out) for i in range(1, size)]
    values = np.arange(size, dtype=np.uint8).reshape(1, 1, 1, size, 1)
    given_scales = (0.0, 0.0, 0.0) if scale is None else (1.0, scale, 1.0)
    computed = reference.upsample_nearest3d(values, (1, out, 1), *given_scales)
    assert computed.ravel().tolist() == [
        max(i for i in range(size) if starts[i] <= z) for z in range(out)
    ]
    last = reference.upsample_nearest3d(
        values.reshape(1, 1, size, 1, 1), (1, out, 1), *given_scales, format="NDHWC"
    )
    assert same_bits(last.ravel(), computed.ravel())


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_unpool_is_a_loop(data: st.DataObject, seed: int) -> None:
    """Law: zeros, and one assignment after the other, in row-major order."""
    rng = np.random.default_rng(seed)
    lead = data.draw(st.sampled_from([(2,), (2, 2), (0, 2)]))
    self = rng.integers(-99, 99, (*lead, 2, 3, 2)).astype(np.int16)
    indices = rng.integers(0, 12, self.shape, np.int32)
    exact = dict.fromkeys(np.ndindex(*lead, 12), 0)
    for position in np.ndindex(self.shape):
        exact[(*position[:-3], int(indices[position]))] = int(self[position])
    computed = reference.max_unpool3d(self, indices, (3, 2, 2), (1, 1, 1), (0, 0, 0))
    assert computed.dtype == self.dtype
    assert computed.ravel().tolist() == list(exact.values())


def test_unpool_of_what_does_not_belong_together() -> None:
    """Law: shapes that differ are a ValueError, an index out of range is an IndexError."""
    self, sizes = np.ones((1, 1, 2, 2), np.float32), ((2, 2, 2), (1, 1, 1), (0, 0, 0))
    with pytest.raises(ValueError, match=r"^max_unpool3d: "):
        reference.max_unpool3d(self, np.zeros((1, 1, 2, 1), np.int64), *sizes)
    with pytest.raises(IndexError, match=r"^max_unpool3d: indices\[0, 0, 0, 0\] is 8"):
        reference.max_unpool3d(self, np.full(self.shape, 8), *sizes)


@pytest.mark.parametrize(
    ("shape", "size", "layout"),
    [
        ((1, 1, 2, 2), (2, 2, 2), "NCDHW"),
        ((1, 1, 2, 2, 0), (2, 2, 2), "NCDHW"),
        ((1, 1, 2, 2, 2), (2, 2), "NCDHW"),
        ((1, 1, 2, 2, 2), (2, 0, 2), "NCDHW"),
        ((1, 1, 2, 2, 2), (2, 2, 2), "XX"),
    ],
)
def test_upsample_forward_of_sizes_that_are_none(
    shape: tuple[int, ...], size: tuple[int, ...], layout: str
) -> None:
    """Law: the definition computes nothing where the contract defines nothing."""
    with pytest.raises(ValueError, match=r"^upsample_nearest3d: "):
        reference.upsample_nearest3d(np.ones(shape, np.float32), size, format=layout)


@pytest.mark.parametrize(
    ("sizes", "layout"),
    [
        (((2, 2, 2), (1, 1, 0, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 1, -1, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 1, 1, 1)), "NCDHW"),
        (((2, 2, 3), (1, 1, 1, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 3, 1, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 1, 1, 1, 1)), "XX"),
    ],
)
def test_upsample_of_sizes_that_do_not_belong(
    sizes: tuple[tuple[int, ...], tuple[int, ...]], layout: str
) -> None:
    """Law: the definition computes nothing where the contract defines nothing."""
    grad = np.ones((1, 1, 2, 2, 2), np.float32)
    with pytest.raises(ValueError, match=r"^upsample_nearest3d_backward: "):
        reference.upsample_nearest3d_backward(grad, *sizes, format=layout)
