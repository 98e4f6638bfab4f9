# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d_backward adds up 16-bit elements in float32 where that is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softnpu import reference
from softnpu.judging.ulp import same_bits
from tests.support import specials as sp
from tests.support.upsample import Sizes, both, channels_last

SIXTEEN_BITS = [sp.FLOAT16, sp.BFLOAT16]
OUTER = st.sampled_from((1, 2, 3, 4, 7, 8, 15))
WIDTH = st.sampled_from((1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 47, 64, 65, 72, 80, 81, 100, 130, 300))
SCALE = st.sampled_from((1, 1.5, 2, 2.5, 3, 3.3, 4, 5, 8, 12, 0.5, 0.6))


def check_exact(grad: np.ndarray[Any, Any], inner: Sizes) -> np.ndarray[Any, Any]:
    """Check and return the totals of terms that float64 adds up exactly, in both layouts.

    They are rounded to FLOAT and from there. There is one NaN, whatever its sign is in the
    definition.
    """
    got, sums = both(grad, inner)
    totals = sums.astype(np.float32)
    totals[np.isnan(totals)] = np.nan
    expected = reference.round_to(totals, grad.dtype)
    assert same_bits(got, expected)
    assert same_bits(channels_last(grad, inner), expected)
    return expected


@settings(max_examples=400, deadline=None)
@given(
    channels=st.sampled_from((1, 2, 3, 4, 5, 16, 20, 64)),
    outer=st.tuples(OUTER, OUTER, WIDTH),
    scales=st.tuples(SCALE, SCALE, SCALE),
    dtype=st.sampled_from(SIXTEEN_BITS),
    spread=st.sampled_from((0, 6, 12)),
    seed=st.integers(0, 2**32),
)
def test_any_boxes(
    channels: int,
    outer: Sizes,
    scales: tuple[float, float, float],
    dtype: np.dtype[Any],
    spread: int,
    seed: int,
) -> None:
    """Law: totals are the exact sums, rounded to FLOAT and from there, in both layouts."""
    rng = np.random.default_rng(seed)
    if channels * int(np.prod(outer)) > 50_000:
        channels = 1
    depth, height, width = (
        max(1, int(size / scale)) for size, scale in zip(outer, scales, strict=True)
    )
    grad = rng.standard_normal((1, channels, *outer))
    grad *= 2.0 ** rng.integers(-spread, spread + 1, grad.shape)
    check_exact(grad.astype(dtype), (depth, height, width))


@pytest.mark.parametrize("dtype", SIXTEEN_BITS, ids=lambda d: d.name)
@pytest.mark.parametrize("width", [80, 40, 24, 10, 7, 120])
@pytest.mark.parametrize("channels", [1, 20, 64])
def test_nan_and_infinities_stay_in_large_boxes(
    dtype: np.dtype[Any], width: int, channels: int
) -> None:
    """Law: an element of gradInput is not finite where its box has what is not, and only there."""
    rng = np.random.default_rng(53)
    grad = rng.integers(-8, 9, (1, channels, 8, 24, 80)).astype(dtype)
    rare = rng.random(grad.shape) < 0.0005
    grad[rare] = rng.choice([np.nan, np.inf, -np.inf], rare.sum()).astype(dtype)
    with np.errstate(invalid="ignore"):
        expected = check_exact(grad, (2, 5, width))
    assert not np.isfinite(expected.astype(np.float32)).all()
