# SPDX-License-Identifier: Apache-2.0
"""Arrays for the cases: NumPy's, or PyTorch's tensors, in the same layouts from one description."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

NumpyArray = npt.NDArray[Any]

ALIGNMENT = 64
# A prime length, so that the pattern does not come back at the same column of every row.
_BLOCK = 1_048_573
# How far apart in it values begin that replace each other.
_STEP = 98_731


def dtype_of(name: str) -> np.dtype[Any]:
    """Give NumPy's data type of that name."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def itemsize(name: str) -> int:
    """Give the bytes of one element."""
    return dtype_of(name).itemsize


def load_torch() -> Any:
    """Give PyTorch; raises ImportError without it."""
    return importlib.import_module("torch")


@dataclass
class Arrays:
    """Makes arrays of one kind: PyTorch's tensors when ``torch`` is given, else NumPy's."""

    torch: Any = None
    _blocks: dict[str, NumpyArray] = field(default_factory=dict)

    def empty(self, shape: tuple[int, ...], dtype: str, layout: str = "contiguous") -> Any:
        """Make an array with unset values, for an output."""
        return self.wrap(place(self._buffer(room(shape, layout), dtype), shape, layout))

    def values(
        self, shape: tuple[int, ...], dtype: str, seed: int, layout: str = "contiguous"
    ) -> Any:
        """Make an array of ordinary values on both sides of 0, the same for the same arguments."""
        return self.wrap(place(self._filled(room(shape, layout), dtype, seed), shape, layout))

    def renewed(
        self, shape: tuple[int, ...], dtype: str, seed: int, layout: str = "contiguous"
    ) -> tuple[Any, Callable[[], Any]]:
        """Make such a tensor, and a call by which PyTorch's threads write other values to it."""
        buffer = self._filled(room(shape, layout), dtype, seed)
        block, target = self.wrap(self._block(dtype)), self.wrap(buffer)
        starts = range(_STEP // 2, _BLOCK - buffer.size, _STEP)  # where no seed starts
        others = itertools.cycle([block[start : start + buffer.size] for start in starts])
        return self.wrap(place(buffer, shape, layout)), lambda: target.copy_(next(others))

    def constant(self, values: NumpyArray) -> Any:
        """Make an array that holds ``values``."""
        buffer = self._buffer(values.size, values.dtype.name)
        buffer[:] = values.reshape(-1)
        return self.wrap(buffer.reshape(values.shape))

    def wrap(self, view: NumpyArray) -> Any:
        """Give the array itself, or the tensor that shares its memory and strides."""
        if self.torch is None:
            return view
        if view.dtype == ml_dtypes.bfloat16:
            return self.torch.from_numpy(view.view(np.int16)).view(self.torch.bfloat16)
        return self.torch.from_numpy(view)

    def _buffer(self, elements: int, dtype: str) -> NumpyArray:
        """Allocate what PyTorch would allocate for a tensor, so that its pages are of that kind."""
        size = max(1, elements) * itemsize(dtype)
        if self.torch is not None:
            memory: NumpyArray = self.torch.empty(size, dtype=self.torch.uint8).numpy()
        else:
            memory = np.empty(size + ALIGNMENT, np.uint8)
            memory = memory[-memory.ctypes.data % ALIGNMENT :][:size]
        return memory.view(dtype_of(dtype))[:elements]

    def _filled(self, elements: int, dtype: str, seed: int) -> NumpyArray:
        buffer, block = self._buffer(elements, dtype), self._block(dtype)
        # Every seed starts elsewhere in the block.
        start = seed * _STEP % _BLOCK
        first = min(buffer.size, _BLOCK - start)
        buffer[:first] = block[start : start + first]
        for at in range(first, buffer.size, _BLOCK):
            length = min(_BLOCK, buffer.size - at)
            buffer[at : at + length] = block[:length]
        return buffer

    def _block(self, dtype: str) -> NumpyArray:
        if dtype not in self._blocks:
            values = np.random.default_rng(2024).standard_normal(_BLOCK, np.float32)
            if np.issubdtype(dtype_of(dtype), np.integer):
                values = np.abs(values * 25) if dtype == "uint8" else values * 25
            self._blocks[dtype] = values.astype(dtype_of(dtype))
        return self._blocks[dtype]


def to_numpy(array: Any) -> NumpyArray:
    """See any of these arrays through NumPy, without a copy."""
    if isinstance(array, np.ndarray):
        return array
    if str(array.dtype) == "torch.bfloat16":
        bits: NumpyArray = array.view(load_torch().int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    seen: NumpyArray = array.numpy()
    return seen


def room(shape: tuple[int, ...], layout: str) -> int:
    """Count the elements of the buffer that holds a view of this shape and layout."""
    if layout == "sliced":
        return math.prod(shape[:-1]) * shape[-1] * 2
    if layout == "offset":
        return math.prod(shape) + 1
    if layout == "stride-0":
        return shape[-1]
    return math.prod(shape)


def place(buffer: NumpyArray, shape: tuple[int, ...], layout: str) -> NumpyArray:
    """View a flat buffer in a shape: how the elements lie is the layout's name."""
    if layout in ("contiguous", "power-of-two"):
        return buffer.reshape(shape)
    if layout == "offset":  # one element behind what an allocation is aligned to
        return buffer[1:].reshape(shape)
    if layout == "transposed":
        turned: NumpyArray = buffer.reshape(shape[::-1])
        return np.transpose(turned)
    if layout == "channels-last":  # N, C, D, H, W in the order N, D, H, W, C
        batch, channels, *volume = shape
        last: NumpyArray = buffer.reshape((batch, *volume, channels))
        return np.moveaxis(last, -1, 1)
    if layout == "sliced":  # every second element of each row
        rows: NumpyArray = buffer.reshape((*shape[:-1], 2 * shape[-1]))
        return rows[..., ::2]
    if layout == "stride-0":  # one row, seen again and again
        strides = (0,) * (len(shape) - 1) + (buffer.itemsize,)
        return np.lib.stride_tricks.as_strided(buffer, shape, strides)
    raise ValueError(f"there is no layout {layout!r}")


def distinct(shape: tuple[int, ...], layout: str) -> int:
    """Count the elements in memory that a view of this shape and layout shows."""
    return shape[-1] if layout == "stride-0" else math.prod(shape)
