# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d_backward of long ranges of w, of empty rows and of few volumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.judging.ulp import distance, same_bits
from tests.support import specials as sp
from tests.support.upsample import Sizes, both, channels_last, each_alone

# Sizes of gradOut and gradInput with long ranges of w, some alike, some not.
LONG: list[tuple[Sizes, Sizes]] = [
    ((1, 3, 40), (1, 3, 5)),
    ((1, 3, 33), (1, 5, 6)),  # rows that are empty between others
    ((2, 3, 100), (5, 3, 14)),  # planes that are empty
    ((1, 4, 66), (1, 4, 4)),
    ((2, 2, 50), (2, 2, 1)),
    ((2, 4, 51), (1, 2, 3)),  # boxes of several rows
    ((1, 2, 340), (1, 5, 20)),
    ((1, 2, 512), (1, 2, 2)),  # as long as those that are added up side by side
    ((1, 2, 514), (1, 2, 2)),
    ((1, 2, 1300), (1, 3, 5)),  # rows of several tiles
    ((1, 3, 2132), (1, 3, 104)),
    ((1, 1, 2500), (1, 2, 2)),  # ranges of several tiles
]


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize(("outer", "inner"), LONG, ids=str)
def test_long_ranges_of_any_number_of_volumes(
    dtype: np.dtype[Any], outer: Sizes, inner: Sizes
) -> None:
    """Law: a volume's bits are those that it has alone, however many are made side by side."""
    rng = np.random.default_rng(47)
    for channels in (3, 4, 5, 6, 7, 13, 70):
        grad = sp.random_values(rng, (1, channels, *outer), dtype)
        grad = sp.with_rare_values(rng, grad)
        got, expected = both(grad, inner)
        assert distance(got, expected).max() <= 1
        assert (np.signbit(got) == np.signbit(expected))[expected == 0].all()
        assert same_bits(each_alone(grad, inner), got)
        assert same_bits(channels_last(grad, inner), got)


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize("factor", [1, 2, 3, 4, 5, 9, 17])
def test_empty_rows_between_equal_ranges(dtype: np.dtype[Any], factor: int) -> None:
    """Law: rows of gradInput that nothing belongs to are zero, the others as if there were none."""
    rng = np.random.default_rng(48)
    for width in (1, 2, 4, 7, 20):
        grad = sp.random_values(rng, (1, 3, 2, 8, width * factor), dtype)
        grad[rng.random(grad.shape) > 0.8] = -0.0
        got, expected = both(grad, (2, 25, width))
        assert same_bits(channels_last(grad, (2, 25, width)), got)
        assert distance(got, expected).max() <= 1
        kept = [row for row in range(25) if expected[:, :, :, row].any()]
        assert len(kept) == 8
        assert same_bits(got[:, :, :, kept].copy(), both(grad, (2, 8, width))[0])
        empty = np.delete(got, kept, axis=3)
        assert same_bits(empty, np.zeros_like(empty))


# Narrow rows, planes that are all alike; and planes of one row.
FEW: list[tuple[Sizes, Sizes]] = [
    ((20, 12, 2), (10, 40, 1)),
    ((18, 23, 1), (6, 16, 1)),
    ((25, 9, 3), (25, 6, 4)),
    ((7, 24, 2), (11, 8, 1)),
    ((2, 12, 3), (1, 12, 4)),
    ((6, 9, 4), (3, 14, 3)),
    ((8, 4, 66), (8, 2, 3)),
    ((8, 3, 10), (12, 1, 5)),
    ((8, 3, 7), (8, 1, 7)),
    ((8, 2, 3), (19, 1, 10)),
    ((9, 2, 40), (9, 1, 33)),
]


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize(("outer", "inner"), FEW, ids=str)
def test_few_volumes(dtype: np.dtype[Any], outer: Sizes, inner: Sizes) -> None:
    """Law: one to three volumes have the bits that they have among many."""
    rng = np.random.default_rng(49)
    grad = sp.random_values(rng, (2, 9, *outer), dtype)
    grad[rng.random(grad.shape) > 0.9] = -0.0
    among, expected = both(grad, inner)
    assert distance(among, expected).max() <= 1
    assert same_bits(channels_last(grad, inner), among)
    for batch in (1, 2):
        for channels in (1, 2, 3):
            alone, _ = both(grad[:batch, :channels].copy(), inner)
            assert same_bits(alone, among[:batch, :channels].copy())
