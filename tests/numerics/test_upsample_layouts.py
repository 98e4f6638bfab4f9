# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d_backward reads memory in four ways, by shape and layout: the bits are one's.

`core/kernels/upsample_nearest3d_backward.cpp` describes the ways.
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
from tests.support import specials as sp
from tests.support.layouts import CONTIGUOUS, Layout, any_layout, place, place_output
from tests.support.upsample import Array, Sizes, both, channels_last, each_alone

TYPES = (*sp.FLOATING, sp.FLOAT64)

# Sizes of gradOut and gradInput.
SIZES: list[tuple[Sizes, Sizes]] = [
    # Scale 1 along W: it joins the side axis, or becomes it.
    ((4, 3, 2), (4, 3, 2)),
    ((6, 9, 37), (2, 4, 37)),
    ((7, 35, 1), (3, 35, 1)),
    ((15, 1, 33), (6, 1, 44)),
    ((1, 2, 1100), (1, 1, 1100)),
    ((1, 1300, 1), (1, 640, 1)),
    ((1, 1, 5), (1, 1, 5)),
    ((70, 1, 1), (33, 1, 1)),
    # Pairs along W, and single elements with zeros between them: short rows, long ones, tiles.
    ((2, 3, 12), (1, 2, 6)),
    ((3, 9, 24), (3, 14, 12)),
    ((2, 4, 74), (1, 2, 37)),
    ((1, 2, 2060), (1, 1, 1030)),
    ((3, 4, 23), (3, 4, 46)),
    ((1, 1, 1057), (2, 1, 2114)),  # in tiles of an odd size
    ((1, 1, 1060), (2, 1, 2118)),
    # Up to one, two, three and more along W, in boxes of few planes and rows, and of many.
    ((5, 6, 7), (4, 12, 7)),
    ((2, 3, 41), (2, 3, 33)),
    ((4, 6, 39), (2, 3, 43)),
    ((3, 4, 33), (2, 4, 11)),
    ((9, 10, 75), (4, 3, 22)),
    ((9, 10, 170), (4, 3, 15)),
    ((3, 4, 56), (3, 4, 7)),
    ((9, 10, 40), (2, 2, 25)),
    ((1, 300, 5), (1, 300, 2)),
    ((2, 43, 11), (2, 86, 11)),
    ((8, 3, 10), (12, 1, 5)),
    ((1, 1, 1300), (1, 2, 1900)),
    ((1, 2, 2300), (1, 1, 701)),
    # Narrow rows, and rows and planes that are empty between others.
    ((6, 7, 1), (2, 3, 2)),
    ((2, 8, 20), (5, 25, 4)),
    ((20, 12, 2), (10, 40, 1)),
    ((1, 3, 33), (1, 5, 6)),
    ((8, 2, 3), (19, 1, 10)),
    # One range along W is longer than a tile, alone or with its channels.
    ((1, 1, 2500), (1, 2, 2)),
    ((2, 3, 240), (1, 1, 2)),
    ((1, 1, 1100), (1, 1, 2)),
    # Boxes that no scratch memory holds.
    ((20, 30, 61), (1, 1, 2)),
]
# A gap behind the elements of each axis but the first, and between those of the last.
APART = [Layout("apart", pads=tuple(int(k == axis) for k in range(5))) for axis in range(1, 5)]
APART.append(Layout("every second", steps=(1, 1, 1, 1, 2)))


def gradient(grad: Array, inner: Sizes) -> Array:
    """Return what the device computes for NCDHW."""
    return softnpu.upsample_nearest3d_backward(grad, grad.shape[2:], (*grad.shape[:2], *inner))


def check(grad: Array, inner: Sizes) -> Array:
    """Compare the first volumes with the definition, and all with calls of one channel, in both
    layouts; return the result.
    """
    got = gradient(grad, inner)
    few, expected = both(grad[:1, :2], inner)
    assert distance(few, expected).max() <= 1
    assert (np.signbit(few) == np.signbit(expected))[expected == 0].all()
    assert same_bits(few, got[:1, :2].copy())
    assert same_bits(each_alone(grad, inner), got)
    assert same_bits(channels_last(grad, inner), got)
    return got


def terms(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return values of many magnitudes, some of them special."""
    values = sp.random_values(rng, shape, dtype)
    scaled = (values * 2.0 ** rng.integers(-6, 7, shape)).astype(dtype)
    return sp.with_rare_values(rng, scaled)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("outer", "inner"), SIZES, ids=str)
def test_neighbours_and_layouts_do_not_matter(
    dtype: np.dtype[Any], outer: Sizes, inner: Sizes
) -> None:
    """Law: a volume has the bits that it has alone, among others, with channels side by side, and
    where the elements of an axis are apart, in either tensor.
    """
    rng = np.random.default_rng(37)
    for batch, channels in ((1, 1), (2, 3), (1, 12), (1, 40)):
        grad = terms(rng, (batch, channels, *outer), dtype)
        got = check(grad, inner)
        for layout in APART:
            case = (batch, channels, layout)
            out = place_output(got.shape, dtype, layout)
            softnpu.upsample_nearest3d_backward(grad, outer, got.shape, out=out.view)
            assert same_bits(out.view.copy(), got), case
            assert out.surroundings_unchanged(), case
            placed = place(grad, layout).view
            assert same_bits(gradient(placed, inner), got), case


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_more_channels_than_a_tile_has(dtype: np.dtype[Any]) -> None:
    """Law: the same for so many channels that they take several tiles."""
    grad = terms(np.random.default_rng(38), (1, 1030, 2, 3, 6), dtype)
    for inner in ((1, 1, 2), (2, 2, 5), (1, 3, 6)):
        check(grad, inner)


@pytest.mark.parametrize("dtype", [sp.FLOAT32, sp.BFLOAT16, sp.FLOAT64], ids=str)
@pytest.mark.parametrize(("outer", "inner"), SIZES, ids=str)
def test_sums_keep_their_order(dtype: np.dtype[Any], outer: Sizes, inner: Sizes) -> None:
    """Law: sums whose value depends on their order have the bits of one volume alone, too."""
    values = np.array([2.0**53, -(2.0**53), 1.0, 0.5, -3.0])
    grad = np.random.default_rng(46).choice(values, (2, 9, *outer)).astype(dtype)
    got = gradient(grad, inner)
    assert same_bits(channels_last(grad, inner), got)
    assert same_bits(gradient(grad[1:, 4:5], inner), got[1:, 4:5].copy())
    assert same_bits(gradient(place(grad, APART[3]).view, inner), got)


@pytest.mark.parametrize(
    ("dtype", "half"), [(sp.FLOAT16, 2.0**-10), (sp.BFLOAT16, 2.0**-7)], ids=["float16", "bfloat16"]
)
def test_sums_that_float32_does_not_hold(dtype: np.dtype[Any], half: float) -> None:
    """Law: sums of 16-bit elements are those of float64, rounded to FLOAT and from there."""
    # Three quarters of what float32 tells apart below the middle of two 16-bit numbers.
    parts = np.array([2 + 2 * half, half, -3 * 2.0**-24, 0.0])
    grad = np.random.default_rng(41).permuted(np.broadcast_to(parts, (9, 2, 3, 40, 4)), axis=-1)
    grad = grad.reshape(1, 9, 2, 3, 40, 2, 2).transpose(0, 1, 2, 5, 3, 6, 4)
    grad = np.ascontiguousarray(grad.reshape(1, 9, 4, 6, 40), dtype)
    for inner in ((2, 3, 40), (2, 3, 20), (1, 2, 30)):
        got, sums = both(grad, inner)
        expected = reference.round_to(sums.astype(np.float32), dtype)
        assert same_bits(got, expected)
        assert same_bits(channels_last(grad, inner), expected)


SIZE = st.sampled_from((1, 1, 2, 2, 3, 4, 5, 8, 12))
WIDTH = st.sampled_from((1, 2, 3, 5, 8, 16, 17, 33, 65, 100, 300))
DENSE_OR_NOT = st.just(CONTIGUOUS) | any_layout(5)


@settings(max_examples=400, deadline=None)
@given(
    counts=st.tuples(st.sampled_from((1, 2, 4, 9)), st.sampled_from((1, 2, 3, 4, 5, 8, 9, 12, 33))),
    outer=st.tuples(SIZE, SIZE, WIDTH),
    inner=st.tuples(SIZE, SIZE, WIDTH),
    more=st.none() | st.tuples(*[st.sampled_from((0.0, 0.4, 0.9))] * 3),
    dtype=st.sampled_from(TYPES),
    last=st.booleans(),
    layouts=st.tuples(DENSE_OR_NOT, DENSE_OR_NOT),
    seed=st.integers(0, 2**32),
)
def test_any_volumes_in_any_layout(
    counts: tuple[int, int],
    outer: Sizes,
    inner: Sizes,
    more: tuple[float, float, float] | None,
    dtype: np.dtype[Any],
    last: bool,
    layouts: tuple[Layout, Layout],
    seed: int,
) -> None:
    """Law: each volume has the bits of a call with it alone, for scales of its own, too; nothing
    else is touched.
    """
    if np.prod(counts) * max(np.prod(outer), np.prod(inner)) > 100_000:
        counts = (1, 2)
    scales = [(o + m) / i for o, m, i in zip(outer, more, inner, strict=True)] if more else []
    if any(int(i * s) != o for i, s, o in zip(inner, scales, outer, strict=False)):
        scales = []  # rounded to another size
    grad = sp.random_values(np.random.default_rng(seed), (*counts, *outer), dtype)
    alone = [
        softnpu.upsample_nearest3d_backward(volume[None, None], outer, (1, 1, *inner), *scales)
        for volume in grad.reshape(-1, *outer)
    ]
    expected: npt.NDArray[Any] = np.concatenate(alone).reshape(*counts, *inner)
    first, exact = both(grad[:1, :2], inner, *scales)
    assert same_bits(first, expected[:1, :2].copy())
    assert distance(first, exact).max() <= 1
    name, size = "NCDHW", (*counts, *inner)
    if last:
        grad, expected = (np.moveaxis(each, 1, -1).copy() for each in (grad, expected))
        name, size = "NDHWC", expected.shape
    placed, out = place(grad, layouts[0]), place_output(size, dtype, layouts[1])
    softnpu.upsample_nearest3d_backward(
        placed.view, outer, size, *scales, format=name, out=out.view
    )
    assert same_bits(out.view, expected)
    assert out.surroundings_unchanged()
    assert placed.buffer_unchanged()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_input_size_may_be_in_either_order(dtype: np.dtype[Any]) -> None:
    """Law: inputSize names N, C, D, H, W or gradInput's own order."""
    grad = sp.random_values(np.random.default_rng(34), (2, 7, 12, 33, 3), dtype)
    one, other = (
        softnpu.upsample_nearest3d_backward(
            grad, (7, 12, 33), size, format="NDHWC", out=np.empty((2, 4, 5, 6, 3), dtype)
        )
        for size in ((2, 4, 5, 6, 3), (2, 3, 4, 5, 6))
    )
    assert same_bits(one, other)


def test_any_stride_along_an_axis_of_one_element() -> None:
    """Law: a step that is never taken may have any size."""
    grad = np.random.default_rng(40).standard_normal((1, 8, 40, 1, 32), dtype=np.float32)
    strides = [*grad.strides[:3], 1 << 42, grad.strides[4]]
    far = np.lib.stride_tricks.as_strided(grad, grad.shape, strides)
    outer, size = (8, 40, 1), (1, 4, 20, 2, 32)
    expected = softnpu.upsample_nearest3d_backward(grad, outer, size, format="NDHWC")
    got = softnpu.upsample_nearest3d_backward(far, outer, size, format="NDHWC")
    assert same_bits(got, expected)


@pytest.mark.parametrize(
    ("dtype", "outer", "inner"),
    [
        (sp.FLOAT32, (40, 44, 37), (40, 44, 37)),  # rows that fill no cache lines
        (sp.FLOAT16, (20, 90, 74), (20, 45, 37)),
        (sp.BFLOAT16, (40, 44, 37), (27, 40, 30)),
        (sp.FLOAT64, (40, 44, 37), (50, 44, 37)),  # with planes of zeros
    ],
    ids=str,
)
def test_large_gradients(dtype: np.dtype[Any], outer: Sizes, inner: Sizes) -> None:
    """Law: a result that is written past the caches has the bits of its parts, and its ends."""
    block = sp.random_values(np.random.default_rng(43), (1, 16, *outer), dtype)
    expected = softnpu.upsample_nearest3d_backward(block, outer, (1, 16, *inner))
    repeats = (16 << 20) // expected.nbytes + 1
    size = (1, 16 * repeats, *inner)
    memory = np.ones(int(np.prod(size)) + 3 + 40, dtype)
    out = memory[3:-40].reshape(size)
    grad = np.concatenate([block] * repeats, axis=1)
    softnpu.upsample_nearest3d_backward(grad, outer, size, out=out)
    assert same_bits(out, np.concatenate([expected] * repeats, axis=1))
    assert (memory[:3] == 1).all()
    assert (memory[-40:] == 1).all()
