# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d_backward computes by shape and layout in many ways, with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import distance, same_bits
from tests.support import specials as sp
from tests.support.layouts import CONTIGUOUS, Layout, any_layout, place, place_output
from tests.support.upsample import Sizes, both, channels_last

# Sizes of gradOut and gradInput that are computed in ways of their own, at least for some types.
WAYS: list[tuple[Sizes, Sizes]] = [
    ((4, 3, 2), (4, 3, 2)),  # planes that are one row
    ((5, 6, 9), (5, 6, 5)),  # planes that become one row: ranges of two at most,
    ((5, 6, 7), (4, 12, 7)),  # one, or none, every second row empty,
    ((5, 6, 10), (5, 8, 4)),  # and up to four
    ((2, 43, 11), (2, 86, 11)),
    ((3, 5, 4), (7, 5, 2)),  # short rows: four channels side by side
    ((2, 4, 5), (1, 3, 4)),
    ((6, 7, 8), (6, 7, 3)),
    ((5, 6, 2), (2, 3, 7)),
    ((6, 9, 37), (2, 4, 37)),  # one element of w each, larger boxes
    ((3, 2, 150), (1, 2, 150)),
    ((9, 10, 13), (3, 3, 13)),
    ((9, 10, 40), (3, 3, 20)),  # two of w each, larger boxes
    ((9, 10, 72), (3, 3, 24)),  # three,
    ((9, 10, 96), (3, 4, 8)),  # twelve,
    ((9, 10, 9), (3, 3, 3)),
    ((1, 10, 84), (1, 3, 56)),  # one and two,
    ((9, 10, 75), (4, 3, 22)),  # three and four,
    ((9, 10, 170), (4, 3, 15)),  # up to twelve,
    ((7, 8, 300), (7, 1, 500)),  # one or none
    ((2, 4, 130), (4, 1, 216)),
    ((3, 9, 24), (3, 14, 12)),  # two of w each, some rows of boxes empty
    ((2, 4, 74), (1, 2, 37)),  # the same in rows longer than a vector
    ((3, 4, 56), (3, 4, 7)),  # long ranges of w, all alike
    ((2, 3, 75), (2, 3, 10)),  # long ranges that differ
    ((2, 3, 41), (2, 3, 33)),  # short ranges that differ
    ((2, 6, 7), (1, 3, 5)),  # short rows of up to four of w each
    ((4, 4, 13), (4, 2, 6)),
    ((3, 4, 33), (2, 4, 11)),
    ((2, 4, 61), (2, 7, 19)),
    ((2, 2, 12), (1, 2, 3)),
    ((4, 3, 23), (2, 5, 31)),  # one of w each, or none, in boxes of one row and more
    ((4, 6, 39), (2, 3, 43)),
    ((9, 2, 11), (3, 4, 40)),
    ((9, 10, 6), (1, 1, 2)),
    ((1, 1, 80), (1, 1, 4)),
    ((6, 3, 37), (2, 5, 37)),  # the same, some rows empty
    ((6, 9, 9), (2, 4, 9)),
    ((1, 3, 700), (1, 2, 350)),  # rows that are more than half a tile
    ((1, 3, 580), (2, 2, 800)),
    ((1, 2, 900), (2, 1, 560)),
    ((1, 2, 1100), (1, 1, 1100)),  # rows of several tiles
    ((1, 2, 2060), (1, 1, 1030)),
    ((1, 1, 1061), (2, 1, 2123)),  # halved,
    ((1, 1, 1060), (2, 1, 2118)),  # nearly
    ((1, 1, 1300), (1, 2, 1900)),
    ((1, 2, 1500), (1, 1, 1070)),
    ((1, 2, 2300), (1, 1, 701)),
    ((2, 3, 90), (1, 1, 3)),  # a range with its channels is longer than a tile
    ((2, 3, 240), (1, 1, 2)),
    ((1, 1, 1100), (1, 1, 2)),
]


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize(("outer", "inner"), WAYS, ids=str)
def test_every_way_gives_the_same_bits(dtype: np.dtype[Any], outer: Sizes, inner: Sizes) -> None:
    """Law: a channel's result is the same alone, among others, and with channels side by side."""
    rng = np.random.default_rng(37)
    for channels in (2, 9, 40, 77) if inner[2] < 300 else (2, 9):
        grad = sp.random_values(rng, (2, channels, *outer), dtype)
        grad = (grad * 2.0 ** rng.integers(-6, 7, grad.shape)).astype(dtype)
        grad = sp.with_rare_values(rng, grad)
        got, expected = both(grad, inner)
        assert distance(got, expected).max() <= 1
        assert (np.signbit(got) == np.signbit(expected))[expected == 0].all()
        alone = [
            both(grad[n : n + 1, c : c + 1], inner)[0] for n in (0, 1) for c in (0, channels - 1)
        ]
        assert same_bits(
            np.concatenate(alone).reshape(2, 2, *inner), got[:, [0, channels - 1]].copy()
        )
        assert same_bits(channels_last(grad, inner), got)


@pytest.mark.parametrize("width", [5, 12, 20, 30, 40, 47, 80, 82])
@pytest.mark.parametrize("channels", [1, 6, 40, 64])
@pytest.mark.parametrize("outer", [(2, 3), (1, 2)], ids=str)
@pytest.mark.parametrize(
    ("dtype", "half"), [(sp.FLOAT16, 2.0**-10), (sp.BFLOAT16, 2.0**-7)], ids=["float16", "bfloat16"]
)
def test_sums_that_float32_does_not_hold(
    dtype: np.dtype[Any], half: float, outer: tuple[int, int], channels: int, width: int
) -> None:
    """Law: sums of 16-bit elements are those of float64, where float32 is beside them, too.

    They are rounded to FLOAT, and from there: in boxes of two rows and two planes to the same.
    """
    # Three quarters of what float32 tells apart below the middle of two 16-bit numbers.
    terms = np.array([2 + 2 * half, half, -3 * 2.0**-24, 0.0])
    grad = np.random.default_rng(41).permuted(
        np.broadcast_to(terms, (channels, 2, 3, 40, 4)), axis=-1
    )
    grad = grad.reshape(1, channels, 2, 3, 40, 2, 2).transpose(0, 1, 2, 5, 3, 6, 4)
    grad = np.ascontiguousarray(grad.reshape(1, channels, 4, 6, 40), dtype)
    got, sums = both(grad, (*outer, width))
    expected = reference.round_to(sums.astype(np.float32), dtype)
    if outer == (2, 3):
        assert same_bits(expected, reference.round_to(sums, dtype))
    assert same_bits(got, expected)
    assert same_bits(channels_last(grad, (*outer, width)), expected)


# Elements of a row of gradOut and of gradInput.
NARROW = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (1, 3), (5, 2), (17, 1)]
NARROW += [(4, 4), (5, 5), (6, 2), (6, 3), (8, 1), (9, 2)]


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize("batch", [1, 3, 4, 9])
def test_narrow_volumes_in_both_orders(dtype: np.dtype[Any], batch: int) -> None:
    """Law: few channels in rows of few elements give the same bits beside each other, whether
    volumes are taken one by one or several at a time.
    """
    rng = np.random.default_rng(39)
    for channels in (2, 3, 4, 5, 8, 9):
        for out_width, width in NARROW:
            grad = sp.random_values(rng, (batch, channels, 2, 3, out_width), dtype)
            got, expected = both(grad, (1, 3, width))
            assert distance(got, expected).max() <= 1, (channels, out_width, width)
            assert same_bits(channels_last(grad, (1, 3, width)), got), (channels, out_width, width)


# Narrow and dense ones have ways of their own.
FEW = st.sampled_from((1, 1, 1, 2, 2, 3, 4, 5, 8, 12))
DENSE_OR_NOT = st.just(CONTIGUOUS) | any_layout(5)


@settings(max_examples=400, deadline=None)
@given(
    counts=st.tuples(st.sampled_from((1, 2, 4, 5, 9)), st.sampled_from((1, 2, 3, 4, 5, 8, 9, 12))),
    outer=st.tuples(FEW, FEW, FEW),
    inner=st.tuples(FEW, FEW, FEW),
    kind=st.sampled_from([*sp.FLOATING, sp.FLOAT64]),
    last=st.booleans(),
    layouts=st.tuples(DENSE_OR_NOT, DENSE_OR_NOT),
    seed=st.integers(0, 2**32),
)
def test_any_volumes_in_any_layout(
    counts: tuple[int, int],
    outer: Sizes,
    inner: Sizes,
    kind: np.dtype[Any],
    last: bool,
    layouts: tuple[Layout, Layout],
    seed: int,
) -> None:
    """Law: each volume has the bits of the definition's call with it alone, and nothing else is
    touched.
    """
    grad = sp.random_values(np.random.default_rng(seed), (*counts, *outer), kind)
    alone = [
        softnpu.upsample_nearest3d_backward(volume[None, None], outer, (1, 1, *inner))
        for volume in grad.reshape(-1, *outer)
    ]
    expected = np.concatenate(alone).reshape(*counts, *inner)
    assert distance(expected, both(grad, inner)[1]).max() <= 1
    size = (*counts, *inner)
    if last:
        grad, expected = (np.moveaxis(each, 1, -1).copy() for each in (grad, expected))
        size = expected.shape
    placed = place(grad, layouts[0])
    out = place_output(size, kind, layouts[1])
    name = "NDHWC" if last else "NCDHW"
    softnpu.upsample_nearest3d_backward(placed.view, outer, size, format=name, out=out.view)
    assert same_bits(out.view, expected)
    assert out.surroundings_unchanged()
    assert placed.buffer_unchanged()


def test_a_step_that_is_never_taken_costs_nothing() -> None:
    """Law: along an axis of one element any stride is the same. Prefetching all that such a stride
    spans would not end.
    """
    shape, result = (1, 64, 1600, 1, 32), (1, 32, 800, 2, 32)
    grad = np.random.default_rng(40).standard_normal(shape, dtype=np.float32)
    strides = [*grad.strides[:3], 1 << 42, grad.strides[4]]
    far = np.lib.stride_tricks.as_strided(grad, shape, strides)
    outer = (64, 1600, 1)
    expected = softnpu.upsample_nearest3d_backward(grad, outer, result, format="NDHWC")
    got = softnpu.upsample_nearest3d_backward(far, outer, result, format="NDHWC")
    assert same_bits(got, expected)


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
def test_channels_beside_each_other_in_positions_that_are_apart(dtype: np.dtype[Any]) -> None:
    """Law: with w outermost in memory the bits are those of dense positions."""
    values = np.random.default_rng(41).standard_normal((2, 40, 60, 24, 32), dtype=np.float32)
    grad = values.astype(dtype)
    turned = np.ascontiguousarray(grad.transpose(3, 0, 1, 2, 4)).transpose(1, 2, 3, 0, 4)
    outer, result = (40, 60, 24), (2, 20, 30, 12, 32)
    expected = softnpu.upsample_nearest3d_backward(grad, outer, result, format="NDHWC")
    got = softnpu.upsample_nearest3d_backward(turned, outer, result, format="NDHWC")
    assert same_bits(got, expected)


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize("channels", [1025, 1030])
def test_more_channels_than_a_tile_has(dtype: np.dtype[Any], channels: int) -> None:
    """Law: channels side by side give the same bits where they take several tiles, too."""
    grad = sp.random_values(np.random.default_rng(38), (1, channels, 2, 3, 6), dtype)
    for inner in ((1, 1, 2), (2, 2, 5), (1, 3, 6)):
        got, expected = both(grad, inner)
        assert distance(got, expected).max() <= 1
        assert same_bits(channels_last(grad, inner), got)


SCALES: list[tuple[float, float, float]] = [
    *((scale, scale, scale) for scale in (0.5, 1.5, 2.0, 3.3, 5.0)),
    (3.0, 2.0, 1.0),
    (2.0, 1.5, 2.0),
    (1.5, 2.0, 2.0),
    (1.5, 1.5, 0.5),
    (2.0, 2.0, 0.5),
    (2.0, 1.0, 1.0),
]


@pytest.mark.parametrize("scales", SCALES, ids=str)
@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
def test_large_gradients_are_what_their_channels_are(
    dtype: np.dtype[Any], scales: tuple[float, float, float]
) -> None:
    """Law: what is read ahead, and how many rows at a time, leaves the bits of small calls."""
    larger = (40, 44, 48)
    small = [int(extent / max(scale, 1)) for extent, scale in zip(larger, scales, strict=True)]
    out = [int(extent * scale) for extent, scale in zip(small, scales, strict=True)]
    inner = (small[0], small[1], small[2])
    channels = 112
    values = np.random.default_rng(13).standard_normal((1, channels, *out), dtype=np.float32)
    values.reshape(-1)[::9973] = np.nan
    grad = values.astype(dtype)
    whole = softnpu.upsample_nearest3d_backward(grad, out, (1, channels, *inner))
    for channel in range(channels):
        alone = grad[:, channel : channel + 1]
        piece = softnpu.upsample_nearest3d_backward(alone, out, (1, 1, *inner))
        assert same_bits(whole[:, channel : channel + 1].copy(), piece)
    assert same_bits(channels_last(grad, inner), whole)


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize(
    ("dtype", "outer", "inner", "megabytes"),
    [
        (sp.FLOAT32, (40, 44, 37), (20, 44, 37), 64),
        (sp.BFLOAT16, (40, 44, 37), (20, 44, 37), 64),
        (sp.FLOAT64, (40, 44, 37), (20, 22, 37), 64),
        (sp.FLOAT32, (40, 44, 38), (20, 22, 19), 128),
        (sp.FLOAT16, (40, 44, 38), (20, 22, 19), 128),
        # What comes next is read in halves, of an odd number of rows.
        (sp.FLOAT32, (20, 62, 66), (10, 31, 33), 128),
        (sp.FLOAT16, (20, 90, 74), (10, 45, 37), 128),
        (sp.BFLOAT16, (10, 62, 148), (10, 31, 74), 128),
        # Ranges that differ, and rows of one total.
        (sp.FLOAT32, (40, 44, 37), (27, 29, 25), 64),
        (sp.FLOAT32, (40, 44, 2), (20, 22, 1), 128),
    ],
    ids=str,
)
def test_gradients_that_no_cache_holds(
    dtype: np.dtype[Any], outer: Sizes, inner: Sizes, megabytes: int, offset: int
) -> None:
    """Law: a gradient has the bits of its parts, whatever is prefetched and however it is written.

    Rows that fill no lines are written past the caches with nothing beside them.
    """
    block = sp.random_values(np.random.default_rng(43), (1, 16, *outer), dtype)
    repeats = (megabytes << 20) // block.nbytes + 1
    grad = np.concatenate([block] * repeats, axis=1)
    expected = softnpu.upsample_nearest3d_backward(block, outer, (1, 16, *inner))
    size = (1, 16 * repeats, *inner)
    memory = np.ones(int(np.prod(size)) + offset + 40, dtype)
    out = memory[offset:-40].reshape(size)
    softnpu.upsample_nearest3d_backward(grad, outer, size, out=out)
    for first in range(0, size[1], 16):
        assert same_bits(out[:, first : first + 16].copy(), expected)
    assert (memory[:offset] == 1).all()
    assert (memory[-40:] == 1).all()


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
def test_a_large_gradient_of_rows_apart(dtype: np.dtype[Any]) -> None:
    """Law: rows of a large gradient that have gaps between them give the bits of dense ones."""
    block = sp.random_values(np.random.default_rng(39), (1, 16, 40, 3 * 44, 49), dtype)
    grad = np.concatenate([block] * (28 // dtype.itemsize), axis=1)
    apart = grad[:, :, :, ::3, :48]
    channels = grad.shape[1]
    for inner in ((20, 22, 24), (20, 22, 32), (27, 29, 32), (20, 22, 96), (12, 13, 14)):
        size = (1, channels, *inner)
        got = softnpu.upsample_nearest3d_backward(apart, (40, 44, 48), size)
        dense = softnpu.upsample_nearest3d_backward(apart.copy(), (40, 44, 48), size)
        assert same_bits(got, dense)
