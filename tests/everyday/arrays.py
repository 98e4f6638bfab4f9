# SPDX-License-Identifier: Apache-2.0
"""Arrays of all data types and layouts for tests of everyday operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.described import BF16

FLOATS = [np.dtype("f4"), np.dtype("f2"), BF16, np.dtype("f8")]
WHOLES = [np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "?")]
TYPES = [*FLOATS, *WHOLES]
I64 = np.dtype("i8")


def is_whole(dtype: np.dtype[Any]) -> bool:
    """Whether softnpu computes in int64."""
    return dtype.kind in "iub"


def wide(array: np.ndarray) -> np.ndarray:
    """Convert to int64 or float64, which softnpu computes in."""
    return array.astype(np.int64 if is_whole(array.dtype) else np.float64)


def data(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Make random elements, among which some are equal."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    low = 0 if dtype.kind == "u" else -9
    whole = rng.integers(low, 9, shape)
    return np.asarray(whole if is_whole(dtype) else whole / 4).astype(dtype)


def layouts(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    """Make one shape in contiguous, transposed and sliced memory."""
    axes = tuple(range(len(shape)))[::-1]
    larger = tuple(2 * size + 1 for size in shape)
    steps = (..., *(slice(1, None, 2) for _ in shape))
    return [
        data(dtype, shape, seed),
        data(dtype, shape[::-1], seed).transpose(axes),
        data(dtype, larger, seed)[steps],
    ]


def like(dtype: Any, shape: tuple[int, ...], layout: int) -> np.ndarray:
    """Make an output whose elements are not yet right."""
    out = layouts(dtype, shape)[layout]
    out[...] = 7
    return out


def equal(got: np.ndarray, wanted: Any) -> None:
    """Assert that shapes and numbers are equal, after one rounding to the output's type."""
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    rounded = wanted != 0 if got.dtype.kind == "b" else wanted.astype(got.dtype)
    exact = np.float64 if not is_whole(got.dtype) else np.int64
    np.testing.assert_array_equal(got.astype(exact), rounded.astype(exact))


def close(got: np.ndarray, wanted: Any, rtol: float = 1e-14) -> None:
    """Assert that it is the rounded number, or for float64 close to it."""
    if got.dtype == np.float64:
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=1e-300)
    elif is_whole(got.dtype):
        equal(got, wanted)
    else:
        wanted = np.asarray(wanted)
        assert got.shape == wanted.shape
        step = {2: 2.0**-10, 4: 2.0**-23}[got.dtype.itemsize] * (8 if got.dtype == BF16 else 1)
        np.testing.assert_allclose(got.astype(float), wanted, rtol=step, atol=1e-45)
