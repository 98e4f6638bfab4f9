# SPDX-License-Identifier: Apache-2.0
"""Conversions between addresses and Python objects."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu import _core
from softnpu.acl.constants import ACL_ERROR_INVALID_PARAM, ACL_SUCCESS
from softnpu.errors import MASKED_ARRAY, with_rule

__all__ = [
    "bytes_to_ptr",
    "numpy_to_ptr",
    "ptr_to_bytes",
    "ptr_to_numpy",
    "start_thread",
    "stop_thread",
]

# NumPy's type numbers, which pyACL uses for data types.
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
    """Return the address of an array's first element.

    Parameters
    ----------
    array : array
        A NumPy array of any shape, strides and data type. It must outlive the use of the address.

    Returns
    -------
    int
        The address.

    Raises
    ------
    TypeError
        array is not a NumPy array, or is a masked array.

    Notes
    -----
    Source: acl.util.numpy_to_ptr of pyACL.
    """
    if not isinstance(array, np.ndarray):  # scalars have only a temporary address
        kind = type(array).__name__
        message = f"numpy_to_ptr: array is of class {kind}; expected an array of NumPy's"
        raise with_rule(TypeError(message), rule="argument-class")
    if isinstance(array, np.ma.MaskedArray):
        raise with_rule(TypeError(f"numpy_to_ptr: array {MASKED_ARRAY}"), rule="masked-array")
    return int(array.__array_interface__["data"][0])


def ptr_to_numpy(
    ptr: int, shape: Sequence[int], data_type: int | npt.DTypeLike
) -> npt.NDArray[Any]:
    """Return an array on the memory at an address, which must stay allocated.

    Parameters
    ----------
    ptr : int
        The address; may be 0 when the array has no elements.
    shape : sequence of int
        The array's shape. Elements are in row-major order.
    data_type : int or dtype
        A NumPy type number or a data type. The numbers are 0 for bool; 1, 3, 5, 7 and 9 for int8,
        int16, int32, int64 and int64; one more for the unsigned types; 11 and 12 for float32 and
        float64; 14 and 15 for complex64 and complex128; 23 for float16.

    Returns
    -------
    array
        A writable view with that shape and data type, not a copy.

    Raises
    ------
    ValueError
        data_type is another number, ptr is 0 although there are elements, a size is negative, the
        array has more bytes than 64 bits can address, or it reaches past the end of ptr's
        allocation.
    TypeError
        data_type is not a data type, or ptr is not an address.

    Notes
    -----
    Source: acl.util.ptr_to_numpy of pyACL.
    """
    if data_type is None or isinstance(data_type, bool):
        message = f"ptr_to_numpy: data_type is {data_type}; expected a number or a data type"
        raise with_rule(TypeError(message), rule="argument-class")
    if isinstance(data_type, int | np.integer):
        if data_type not in _TYPES:
            message = f"ptr_to_numpy: data_type is {data_type}, which is no type number of NumPy"
            raise with_rule(ValueError(message), rule="type-number")
        data_type = _TYPES[int(data_type)]
    dtype = np.dtype(data_type)
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize  # exact, with Python integers
    if size > sys.maxsize:
        message = f"ptr_to_numpy: shape is {shape}, which is more than 64 bits can address"
        raise with_rule(ValueError(message), rule="too-many-elements")
    return np.frombuffer(_core.memory_view(ptr, size), dtype).reshape(shape)


def bytes_to_ptr(data: bytes) -> int:
    """Return the address of the contents of a bytes object.

    Parameters
    ----------
    data : bytes
        It must outlive the use of the address, and its contents must not be changed.

    Returns
    -------
    int
        The address.

    Raises
    ------
    TypeError
        data is not a bytes object.

    Notes
    -----
    Source: acl.util.bytes_to_ptr of pyACL.
    """
    return _core.bytes_address(data)


def ptr_to_bytes(ptr: int, size: int) -> bytes:
    """Return a copy of the bytes at an address.

    Parameters
    ----------
    ptr : int
        The address; may be 0 if size is 0.
    size : int
        The number of bytes.

    Returns
    -------
    bytes
        The copy.

    Raises
    ------
    ValueError
        size is negative, ptr is 0 and size is not, or the bytes reach past the end of ptr's
        allocation.
    TypeError
        ptr is not an address, or size is not an integer.

    Notes
    -----
    Source: acl.util.ptr_to_bytes of pyACL.
    """
    return bytes(_core.memory_view(ptr, size))


def start_thread(func: Callable[[Any], object], args: Any) -> tuple[int, int]:
    """Run ``func(args)`` in a thread of its own.

    Parameters
    ----------
    func : callable
        It must end by itself; the interpreter does not wait for it.
    args : object
        Its only argument.

    Returns
    -------
    tuple of int
        The thread's id, for `softnpu.acl.rt.subscribe_report`, and ACL_SUCCESS.

    Raises
    ------
    RuntimeError
        The system cannot start another thread.
    TypeError
        func cannot be called.

    Notes
    -----
    Source: acl.util.start_thread of pyACL.
    """
    if not callable(func):
        message = f"start_thread: func is of class {type(func).__name__}; expected a callable"
        raise with_rule(TypeError(message), rule="argument-class")
    thread = threading.Thread(target=func, args=(args,), daemon=True)
    thread.start()
    assert thread.ident is not None, "a started thread has an id"
    _threads[thread.ident] = thread
    return thread.ident, ACL_SUCCESS


def stop_thread(thread_id: int) -> int:
    """Wait for the end of a thread that start_thread started.

    Parameters
    ----------
    thread_id : int
        The thread's id.

    Returns
    -------
    int
        ACL_SUCCESS; ACL_ERROR_INVALID_PARAM if start_thread did not return this id, or if the
        thread has been waited for before.

    Raises
    ------
    RuntimeError
        It is the calling thread's own id.

    Notes
    -----
    Source: acl.util.stop_thread of pyACL.
    """
    thread = _threads.pop(thread_id, None)
    if thread is None:
        return ACL_ERROR_INVALID_PARAM
    thread.join()
    return ACL_SUCCESS
