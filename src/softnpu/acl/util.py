# SPDX-License-Identifier: Apache-2.0
"""Between addresses and Python's own objects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu import _core
from softnpu.acl.constants import ACL_ERROR_INVALID_PARAM, ACL_SUCCESS

__all__ = [
    "bytes_to_ptr",
    "numpy_to_ptr",
    "ptr_to_bytes",
    "ptr_to_numpy",
    "start_thread",
    "stop_thread",
]

# NumPy's type numbers, by which pyACL names data types.
_TYPES: dict[int, npt.DTypeLike] = {
    0: np.bool_,
    1: np.int8,
    2: np.uint8,
    3: np.int16,
    4: np.uint16,
    5: np.int32,
    6: np.uint32,
    7: np.int64,
    8: np.uint64,
    9: np.int64,
    10: np.uint64,
    11: np.float32,
    12: np.float64,
    14: np.complex64,
    15: np.complex128,
    23: np.float16,
}
_threads: dict[int, threading.Thread] = {}


def numpy_to_ptr(array: npt.NDArray[Any]) -> int:
    """Return the address of an array's first element; the array must outlive its use."""
    return int(array.__array_interface__["data"][0])


def ptr_to_numpy(
    ptr: int, shape: Sequence[int], data_type: int | npt.DTypeLike
) -> npt.NDArray[Any]:
    """Return an array on the memory at an address, which must stay allocated.

    Parameters
    ----------
    ptr : int
        The address.
    shape : sequence of int
        The array's shape; elements are in row-major order.
    data_type : int or dtype
        A type number of NumPy (11 is float32), or a data type.

    """
    if isinstance(data_type, int):
        if data_type not in _TYPES:
            raise ValueError(f"data_type is {data_type}, which is no type number of NumPy")
        data_type = _TYPES[data_type]
    dtype = np.dtype(data_type)
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(_core.memory_view(ptr, count * dtype.itemsize), dtype).reshape(shape)


def bytes_to_ptr(data: bytes) -> int:
    """Return the address of the contents of a bytes object, which must outlive its use."""
    return _core.bytes_address(data)


def ptr_to_bytes(ptr: int, size: int) -> bytes:
    """Return a copy of the bytes at an address."""
    return bytes(_core.memory_view(ptr, size))


def start_thread(func: Callable[[Any], object], args: Any) -> tuple[int, int]:
    """Run ``func(args)`` in a thread of its own; return its id for subscribe_report, and 0."""
    thread = threading.Thread(target=func, args=(args,), daemon=True)
    thread.start()
    assert thread.ident is not None, "a started thread has an id"
    _threads[thread.ident] = thread
    return thread.ident, ACL_SUCCESS


def stop_thread(thread_id: int) -> int:
    """Wait for the end of a thread that start_thread began; it must come to its end by itself."""
    thread = _threads.pop(thread_id, None)
    if thread is None:
        return ACL_ERROR_INVALID_PARAM
    thread.join()
    return ACL_SUCCESS
