# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest3d_backward with channels beside each other: the bits of channels apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu.judging.ulp import distance, same_bits
from tests.support import specials as sp
from tests.support.upsample import both, channels_last


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize("ndhwc_order", [True, False])
def test_channels_last_is_the_same_sum(dtype: np.dtype[Any], ndhwc_order: bool) -> None:
    """Law: NDHWC gives the bits of NCDHW, with inputSize in either documented order."""
    grad = sp.random_values(np.random.default_rng(34), (2, 3, 7, 12, 33), dtype)
    plain = softnpu.upsample_nearest3d_backward(grad, [7, 12, 33], [2, 3, 4, 5, 6])
    last = np.ascontiguousarray(np.moveaxis(grad, 1, -1))
    size = [2, 4, 5, 6, 3] if ndhwc_order else [2, 3, 4, 5, 6]
    out = np.empty((2, 4, 5, 6, 3), dtype)
    softnpu.upsample_nearest3d_backward(last, [7, 12, 33], size, format="NDHWC", out=out)
    assert same_bits(np.moveaxis(out, -1, 1).copy(), plain)
    strided = np.moveaxis(last, -1, 1)  # NCDHW by name, channels last in memory
    again = softnpu.upsample_nearest3d_backward(strided, [7, 12, 33], [2, 3, 4, 5, 6])
    assert same_bits(again, plain)


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize("factor", [2.0, 1.5, 1.0, 0.5, 3.3])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 8, 9, 17, 33])
def test_layouts_agree_whatever_fits_a_vector(
    dtype: np.dtype[Any], factor: float, channels: int
) -> None:
    """Law: both layouts give the definition's sums, and the same bits, for rows of any length."""
    rng = np.random.default_rng(36)
    for width in (5, 16, 31):
        inner = (3, 4, width)
        outer = [max(1, int(size * factor)) for size in inner]
        grad = sp.random_values(rng, (2, channels, *outer), dtype)
        # Some sums fit float32 and some do not.
        grad = (grad * 2.0 ** rng.integers(-6, 7, grad.shape)).astype(dtype)
        plain, expected = both(grad, inner)
        assert distance(plain, expected).max() <= 1
        assert same_bits(channels_last(grad, inner), plain)


# Elements of a row of gradOut and of gradInput, and what the scale between them has more: with 0.9
# the last range of a row is empty.
FEW_BESIDE = [(2, 1, 0.0), (3, 2, 0.0), (4, 2, 0.0), (40, 20, 0.0), (41, 20, 0.0), (37, 25, 0.0)]
FEW_BESIDE += [(60, 20, 0.0), (66, 20, 0.0), (80, 20, 0.0), (25, 24, 0.0), (900, 450, 0.0)]
FEW_BESIDE += [(3, 3, 0.9), (20, 13, 0.9), (9, 8, 0.9), (1300, 700, 0.9)]


@pytest.mark.parametrize("dtype", [*sp.FLOATING, sp.FLOAT64], ids=lambda d: d.name)
@pytest.mark.parametrize(("out_width", "width", "more"), FEW_BESIDE)
def test_few_channels_beside_each_other(
    dtype: np.dtype[Any], out_width: int, width: int, more: float
) -> None:
    """Law: two to six channels inside, as images have, give the bits of channels apart."""
    rng = np.random.default_rng(43)
    scales = (2.0, 1.5, (out_width + more) / width)
    for channels in (2, 3, 4, 5, 6):
        grad = sp.random_values(rng, (1, channels, 2, 3, out_width), dtype)
        grad = (grad * 2.0 ** rng.integers(-6, 7, grad.shape)).astype(dtype)
        grad[rng.random(grad.shape) < 0.004] = np.nan
        grad[rng.random(grad.shape) > 0.9] = -0.0
        got, expected = both(grad, (1, 2, width), *scales)
        assert distance(got, expected).max() <= 1, channels
        assert (np.signbit(got) == np.signbit(expected))[expected == 0].all(), channels
        assert same_bits(channels_last(grad, (1, 2, width), *scales), got), channels
