# SPDX-License-Identifier: Apache-2.0
"""Calls operators by their names through both phases of the C API, on NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import ml_dtypes
import numpy as np

from softnpu import _core, acl, aclnn

TYPES = {
    "float32": aclnn.ACL_FLOAT,
    "float16": aclnn.ACL_FLOAT16,
    "bfloat16": aclnn.ACL_BF16,
    "float64": aclnn.ACL_DOUBLE,
    "int8": aclnn.ACL_INT8,
    "int16": aclnn.ACL_INT16,
    "int32": aclnn.ACL_INT32,
    "int64": aclnn.ACL_INT64,
    "uint8": aclnn.ACL_UINT8,
    "bool": aclnn.ACL_BOOL,
    "int4": aclnn.ACL_INT4,
}
_TENSOR, _SCALAR, _INTS, _BOOLS, _TENSORS = range(5)
INT4 = np.dtype(ml_dtypes.int4)
_TO_DEVICE, _TO_HOST = 1, 2
BF16 = np.dtype(ml_dtypes.bfloat16)


def base_of(array: np.ndarray) -> np.ndarray:
    """Find the memory that a view is part of, as a flat array of its type."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.ravel(order="K")  # no copy: memory of its own is dense


def packed(int4: np.ndarray) -> np.ndarray:
    """Put two elements into each byte, the first into its lower bits."""
    bits = np.pad(int4.astype(np.uint8) & 15, (0, int4.size % 2))
    return np.asarray(bits[::2] | bits[1::2] << 4)


class Device:
    """Copies of arrays in device memory, for one call."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._copies: list[tuple[int, np.ndarray, np.ndarray, int]] = []
        self._shapes: dict[int, list[int]] = {}

    def tensor(self, array: np.ndarray) -> int:
        """Make a tensor with the array's sizes, strides and offset on a copy of its memory."""
        base = base_of(array)
        size = array.itemsize
        sent = packed(base) if array.dtype == INT4 else base
        address, error = acl.rt.malloc(max(sent.nbytes, 1), 0)
        assert error == 0
        self._stack.callback(acl.rt.free, address)
        acl.rt.memcpy(address, sent.nbytes, sent.ctypes.data, sent.nbytes, _TO_DEVICE)
        offset = (array.ctypes.data - base.ctypes.data) // size if array.size else 0
        strides = [s // size for s in array.strides]
        kind = TYPES[array.dtype.name]
        tensor = aclnn.aclCreateTensor(
            list(array.shape), kind, strides, offset, aclnn.ACL_FORMAT_ND, [base.size], address
        )
        self._stack.callback(aclnn.aclDestroyTensor, tensor)
        if array.dtype != INT4:  # which operators only read
            self._copies.append((address, base, array, tensor))
        return tensor

    def read_back(self) -> None:
        """Copy the memory back into the arrays, and keep the tensors' sizes."""
        for address, base, *_ in self._copies:
            acl.rt.memcpy(base.ctypes.data, base.nbytes, address, base.nbytes, _TO_HOST)

        self._shapes = {id(a): aclnn.aclGetViewShape(t) for *_, a, t in self._copies}

    def shape_of(self, array: np.ndarray) -> list[int]:
        """Get the size that a tensor had after the launch, as aclGetViewShape says."""
        return self._shapes[id(array)]


def scalar(value: Any) -> int:
    """Make a scalar: a NumPy number keeps its type, Python's are double, int64 and bool."""
    kind = np.asarray(value).dtype.name
    return aclnn.aclCreateScalar(
        value.item() if isinstance(value, np.generic) else value, TYPES[kind]
    )


@contextmanager
def arguments(name: str, values: Sequence[Any]) -> Iterator[tuple[Device, list[Any]]]:
    """Make the handles of a call, and destroy them at the end."""
    with ExitStack() as stack:
        device, made = Device(stack), []
        for (_, kind, *_), value in zip(_core.described_parameters(name), values, strict=True):
            made.append(_argument(kind, value, device, stack))
        yield device, made


def _argument(kind: int, value: Any, device: Device, stack: ExitStack) -> Any:
    if value is None:
        return None
    if kind == _TENSOR:
        return device.tensor(value)
    if kind == _TENSORS:
        members = [None if each is None else device.tensor(each) for each in value]
        return aclnn.aclCreateTensorList(members)  # its members are destroyed one by one
    if kind == _SCALAR:
        handle = scalar(value)
        stack.callback(aclnn.aclDestroyScalar, handle)
        return handle
    if kind == _INTS:
        handle = aclnn.aclCreateIntArray(list(value))
        stack.callback(aclnn.aclDestroyIntArray, handle)
        return handle
    if kind == _BOOLS:
        handle = aclnn.aclCreateBoolArray(list(value))
        stack.callback(aclnn.aclDestroyBoolArray, handle)
        return handle
    return value


def call(name: str, *values: Any) -> Device:
    """Run ``aclnn<name>`` on arrays, scalars and numbers in the documented order.

    Outputs are arrays, which are written; None is null. Returns the device, whose ``shape_of()``
    reads an output's final size. Raises RuntimeError where the launch fails, after the arrays are
    written.
    """
    operator = f"aclnn{name}"
    with arguments(operator, values) as (device, made):
        size, executor = getattr(aclnn, f"{operator}GetWorkspaceSize")(*made)
        assert size == 0
        getattr(aclnn, operator)(None, size, executor, None)
        failed = acl.rt.synchronize_device() != 0
        device.read_back()
        if failed:
            raise RuntimeError(acl.get_recent_err_msg())
    return device
