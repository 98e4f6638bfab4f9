# SPDX-License-Identifier: Apache-2.0
"""Data in several layouts, and what tests of layers compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

LAYOUTS = ["contiguous", "transposed", "sliced"]
# The largest relative error of one rounding; float64 also has those of the sums.
ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8, "float64": 1e-11}
SMALLEST = {"float16": 3e-8}


def laid_out(values: np.ndarray, layout: str) -> Any:
    """Put values into memory of another layout."""
    if layout == "transposed":
        return values.T.copy().T
    if layout == "sliced" and values.ndim > 0:
        memory = np.zeros((*values.shape[:-1], 2 * values.shape[-1] + 1), values.dtype)
        memory[..., 1::2] = values
        return memory[..., 1::2]
    return values.copy()


def data(dtype: Any, shape: tuple[int, ...], seed: int = 0, layout: str = "contiguous") -> Any:
    """Draw normal numbers, or integers from -9 to 8."""
    rng = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "i":
        return laid_out(rng.integers(-9, 9, shape).astype(dtype), layout)
    return laid_out(rng.standard_normal(shape).astype(dtype), layout)


def unwritten(dtype: Any, shape: Any, layout: str = "contiguous") -> Any:
    """Make an output, full of what no result is."""
    filler = -77 if np.dtype(dtype).kind in "iu" else np.nan
    return laid_out(np.full(tuple(shape), filler, dtype), layout)


def wide(array: np.ndarray | None) -> Any:
    """Make a float64 tensor of PyTorch, which records what is computed from it."""
    import torch

    return None if array is None else torch.from_numpy(array.astype("f8")).requires_grad_()


def assert_rounded(got: np.ndarray, wanted: Any) -> None:
    """The output is the float64 result, rounded once."""
    wanted = np.asarray(wanted, np.float64)
    assert got.shape == wanted.shape
    name = got.dtype.name
    np.testing.assert_allclose(
        got.astype("f8"), wanted, 1.01 * ROUNDING[name], SMALLEST.get(name, 1e-11)
    )
