# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d against its definition: copies that keep every bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import same_bits
from tests.support import laws
from tests.support import specials as sp
from tests.support.layouts import Layout, any_layout, place, place_output
from tests.support.upsample import Sizes

DTYPES = [*sp.FLOATING, sp.FLOAT64, np.dtype(np.uint8)]
# Long rows, which are cut; many planes and rows of one source; results past the caches.
LARGE: list[tuple[tuple[int, ...], Sizes]] = [
    ((1, 2, 1, 2, 3000), (1, 3, 9001)),
    ((1, 1, 1, 1, 1), (40, 50, 60)),
    ((2, 3, 1, 3, 2), (70, 3, 5)),
    ((1, 3, 30, 31, 32), (1, 1, 3)),
    ((1, 5, 20, 40, 41), (40, 80, 82)),
]


def check(self: npt.NDArray[Any], size: Sizes, *scales: float, **more: Any) -> None:
    """Compare the device with the definition, bit for bit."""
    got = softnpu.upsample_nearest3d(self, size, *scales, **more)
    assert same_bits(got, reference.upsample_nearest3d(self, size, *scales, **more))


@pytest.mark.parametrize("layout", ["NCDHW", "NDHWC"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_every_bit_is_kept(dtype: np.dtype[Any], layout: str) -> None:
    """Law: values are moved bit for bit: NaN payloads, zeros of both signs, subnormals."""
    rng = np.random.default_rng(90)
    self = sp.random_bits(rng, (2, 4, 5, 6, 4), dtype)
    if dtype.kind != "u":
        values = sp.specials(dtype)
        self.ravel()[: len(values)] = values
    for size in [(8, 10, 12), (4, 5, 6), (7, 3, 13), (1, 1, 1), (4, 10, 6)]:
        check(self, size, format=layout)


@pytest.mark.parametrize(("shape", "size"), LARGE, ids=str)
@pytest.mark.parametrize("dtype", [sp.FLOAT32, sp.FLOAT64, np.dtype(np.uint8)], ids=str)
def test_large_results(dtype: np.dtype[Any], shape: tuple[int, ...], size: Sizes) -> None:
    """Law: the same for any number of threads, in both layouts, fresh or into a given array."""
    self = sp.random_bits(np.random.default_rng(91), shape, dtype)
    last = np.ascontiguousarray(np.moveaxis(self, 1, -1))
    expected = reference.upsample_nearest3d(self, size)
    for count in laws.THREADS:
        with laws.threads(count):
            assert same_bits(softnpu.upsample_nearest3d(self, size), expected)
            got = softnpu.upsample_nearest3d(last, size, format="NDHWC")
            assert same_bits(np.ascontiguousarray(np.moveaxis(got, -1, 1)), expected)
            out = place_output(expected.shape, dtype, Layout("offset", offset=3))
            softnpu.upsample_nearest3d(self, size, out=out.view)
            assert same_bits(out.view.copy(), expected)
            assert out.surroundings_unchanged()


@settings(max_examples=200, deadline=None)
@given(data=st.data(), layouts=st.tuples(any_layout(5), any_layout(5)), seed=st.integers(0, 2**32))
def test_any_sizes_in_any_layout(
    data: st.DataObject, layouts: tuple[Layout, Layout], seed: int
) -> None:
    """Law: no layout of self or out changes a bit, and nothing beside out is written."""
    rng = np.random.default_rng(seed)
    inner = data.draw(st.tuples(*[st.integers(1, 6)] * 3))
    size: Any = tuple(data.draw(st.sampled_from((n, 2 * n, 3 * n, 7, 1))) for n in inner)
    channels = data.draw(st.sampled_from((1, 2, 3, 8, 17)))
    dtype = data.draw(st.sampled_from(DTYPES))
    self = sp.random_bits(rng, (int(rng.integers(1, 4)), channels, *inner), dtype)
    placed = place(self, layouts[0])
    expected = reference.upsample_nearest3d(self, size)
    out = place_output(expected.shape, dtype, layouts[1])
    assert softnpu.upsample_nearest3d(placed.view, size, out=out.view) is out.view
    assert same_bits(out.view.copy(), expected)
    assert out.surroundings_unchanged()
    assert placed.buffer_unchanged()


def sources(size: int, out: int, axis: int, scale: float = 0.0) -> list[int]:
    """Return the input element that each output element is a copy of, on one axis."""
    shape, outer, scales = [1, 1, 1], [1, 1, 1], [1.0 if scale else 0.0] * 3
    shape[axis], outer[axis], scales[axis] = size, out, scale
    values = np.arange(size, dtype=np.float64).reshape(1, 1, *shape)
    got = softnpu.upsample_nearest3d(values, outer, *scales)
    return [int(value) for value in got.ravel()]


def by_the_words(size: int, out: int, scale: float | None) -> list[int]:
    """Return the same, one element at a time, by the sheet's words."""
    step = np.float32(scale) if scale is not None else np.float32(out) / np.float32(size)
    starts = [min(math.ceil(float(np.float32(i) * step)), out) for i in range(size + 1)]
    return [
        next((i for i in range(size) if starts[i] <= z < starts[i + 1]), size - 1)
        for z in range(out)
    ]


def test_ceil_decides_where_a_range_starts() -> None:
    """Law: 82 elements of 2 are split 41 : 41, where PyTorch's rounding gives 42 : 40."""
    for axis in range(3):
        assert sources(2, 82, axis) == [0] * 41 + [1] * 41


@settings(max_examples=200, deadline=None)
@given(size=st.integers(1, 60), out=st.integers(1, 400), axis=st.integers(0, 2))
def test_ranges_without_scales(size: int, out: int, axis: int) -> None:
    """Law: ranges start where float32 arithmetic says."""
    assert sources(size, out, axis) == by_the_words(size, out, None)


@settings(max_examples=200, deadline=None)
@given(size=st.integers(1, 60), scale=st.floats(0.02, 9), axis=st.integers(0, 2))
def test_ranges_with_given_scales(size: int, scale: float, axis: int) -> None:
    """Law: a given scale is rounded to float32 and used in place of out / in."""
    out = math.floor(size * scale)
    if out > 0:
        assert sources(size, out, axis, scale) == by_the_words(size, out, scale)


@pytest.mark.parametrize(
    ("size", "out"), [(1 << 20, 1 << 19), (1 << 19, 1 << 20), (1 << 20, 7), (999_983, 1_000_003)]
)
def test_ranges_of_the_largest_sizes(size: int, out: int) -> None:
    """Law: float32 rounds there, and both directions see the same ranges."""
    got = np.array(sources(size, out, 2))
    starts = np.searchsorted(got, np.arange(size + 1))
    ones = np.ones((1, 1, 1, 1, out))
    counts = softnpu.upsample_nearest3d_backward(ones, (1, 1, out), (1, 1, 1, 1, size))
    assert np.array_equal(counts.ravel(), np.diff(starts))


@pytest.mark.parametrize("missing", range(3))
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_scales_count_only_when_all_are_given(missing: int, value: float) -> None:
    """Law: unless all three scales are above 0, all three axes use out / in."""
    self = sp.random_values(np.random.default_rng(92), (1, 1, 20, 20, 20), sp.FLOAT64)
    size = (50, 50, 50)
    scales = [2.549 if axis != missing else value for axis in range(3)]
    without = softnpu.upsample_nearest3d(self, size)
    assert not same_bits(without, softnpu.upsample_nearest3d(self, size, 2.549, 2.549, 2.549))
    assert same_bits(without, softnpu.upsample_nearest3d(self, size, *scales))


def test_large_results_are_written_past_the_caches() -> None:
    """Law: results of 16 MB and more have the bits of their parts, and end where they should."""
    rng = np.random.default_rng(94)
    self = sp.random_bits(rng, (1, 9, 17, 41, 43), sp.FLOAT32)
    size = (34, 123, 129)
    memory = np.zeros(9 * 34 * 123 * 129 + 14, np.float32)
    out = memory[7:-7].reshape(1, 9, *size)
    softnpu.upsample_nearest3d(self, size, out=out)
    for channel in range(9):
        part = softnpu.upsample_nearest3d(self[:, channel : channel + 1], size)
        assert same_bits(out[:, channel : channel + 1].copy(), part)
    assert not memory[:7].any()
    assert not memory[-7:].any()
