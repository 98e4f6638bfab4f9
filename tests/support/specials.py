# SPDX-License-Identifier: Apache-2.0
"""Values at the edges of floating types, and random ones from all over their range."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from softnpu.judging.ulp import bits

FLOAT32 = np.dtype(np.float32)
FLOAT16 = np.dtype(np.float16)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT64 = np.dtype(np.float64)
FLOATING = (FLOAT32, FLOAT16, BFLOAT16)


def specials(dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the ends of subnormals and normals, ones, infinities, zeros, NaN, of both signs."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    positive = np.array(
        [0, info.smallest_subnormal, info.tiny, 0.5, 1, 2, 3, info.max, np.inf, np.nan], dtype
    )
    largest_subnormal = from_bits(bits(positive[2:3]) - 1, dtype)
    around_one = neighbours([1.0], dtype, 1)
    both = np.concatenate([positive, largest_subnormal, around_one])
    return np.concatenate([both, np.negative(both)])


def neighbours(values: Iterable[float], dtype: np.dtype[Any], reach: int = 3) -> npt.NDArray[Any]:
    """Return what lies up to ``reach`` steps on either side of finite values other than 0."""
    centre = bits(np.array(list(values), np.float64).astype(np.float32).astype(dtype))
    offsets = np.arange(-reach, reach + 1)
    around = (centre.astype(np.int64)[:, None] + offsets).astype(centre.dtype)
    return from_bits(around.ravel(), dtype)


def all_pairs(*arrays: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Return every combination of the arrays' elements, as contiguous arrays of one dimension."""
    return [grid.ravel() for grid in np.meshgrid(*arrays, indexing="ij")]


def from_bits(patterns: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Read unsigned integers as values of a type of the same width."""
    return np.ascontiguousarray(patterns).view(dtype)


def every_bit_pattern(dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return all 65536 values of a 16-bit type."""
    return from_bits(np.arange(1 << 16, dtype=np.uint16), dtype)


def random_bits(
    rng: np.random.Generator, shape: int | tuple[int, ...], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return random bit patterns: all magnitudes alike; subnormals, infinities and NaN too."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    top = int(np.iinfo(unsigned).max)
    return rng.integers(0, top, shape, dtype=unsigned, endpoint=True).view(dtype)


def random_values(
    rng: np.random.Generator, shape: int | tuple[int, ...], dtype: np.dtype[Any], spread: float = 3
) -> npt.NDArray[Any]:
    """Return normally distributed floating values, or integers from their whole range."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return (spread * rng.standard_normal(shape)).astype(np.float32).astype(dtype)


def with_rare_values(rng: np.random.Generator, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values with few infinities and NaN among them, and a tenth of them -0."""
    values, rare = values.copy(), rng.random(values.shape)
    for limit, value in ((0.004, np.inf), (0.003, -np.inf), (0.002, np.nan)):
        values[rare < limit] = value
    values[rare > 0.9] = -0.0
    return values


def random_scalar(rng: np.random.Generator, low: float = -10, high: float = 10) -> float:
    """Return a positive number between 10**low and 10**high, all magnitudes alike."""
    return float(np.float32(10 ** rng.uniform(low, high)))


def unlucky_differences(
    rng: np.random.Generator, count: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return pairs of float32 whose difference, just above a power of two, is rounded the most."""
    power = np.float64(2.0) ** rng.integers(-3, 4, count)
    target = (power * rng.uniform(2, 4, count)).astype(np.float32)
    target *= rng.choice([-1, 1], count).astype(np.float32)
    self = (target + power * rng.uniform(1, 1.02, count)).astype(np.float32)
    target = (target + power * rng.uniform(-0.01, 0.01, count) * 2.0**-10).astype(np.float32)
    small = rng.random(count) < 0.5
    target = np.where(small, (power * rng.uniform(2**-9, 2**-7, count)), target).astype(np.float32)
    self = np.where(small, power * rng.uniform(1, 1.02, count), self).astype(np.float32)
    exact = self.astype(np.float64) - target
    error = np.abs(exact - (self - target).astype(np.float64)) / np.abs(exact)
    worst = np.argsort(error)[-count // 20 :]
    return self[worst], target[worst]
