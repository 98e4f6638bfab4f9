# SPDX-License-Identifier: Apache-2.0
"""Arrays of a library of which nothing is known but DLPack, well-behaved ones and others."""

from __future__ import annotations

import ctypes as ct
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Foreign:
    """An array of a library of which nothing is known but DLPack."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.exports = 0

    def __dlpack__(self, **options: Any) -> object:
        try:
            capsule: object = self.array.__dlpack__(**options)
        except TypeError:  # NumPy before 2.1 knows no versions
            capsule, *self.kept = with_version(self.array)
        self.exports += 1
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(producer: Any) -> Foreign:
    """What this module, as the library of `Foreign`, takes results over with."""
    return Foreign(np.from_dlpack(producer))


class Old(Foreign):
    """A producer from before versions: it does not know the argument."""

    def __dlpack__(self, stream: object = None) -> object:  # type: ignore[override]
        self.exports += 1
        return self.array.__dlpack__()


class Standard(Foreign):
    """A producer that follows the array API standard."""

    def __array_namespace__(self) -> SimpleNamespace:
        return SimpleNamespace(from_dlpack=lambda x: Standard(np.from_dlpack(x)))


class Described(Foreign):
    """Any description of a float32 array of 4 elements, as capsules that C code would make."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(np.arange(4, dtype=np.float32))
        values: dict[str, Any] = {
            "data": self.array.ctypes.data,
            "device": 1,
            "device_id": 0,
            "ndim": 1,
            "code": 2,
            "bits": 32,
            "lanes": 1,
            "shape": (4,),
            "strides": (1,),
            "byte_offset": 0,
            "major": 1,
            "flags": 0,
        }
        self.values = {**values, **changes}
        self.capsules: list[Any] = []

    def __dlpack__(self, **options: Any) -> object:
        v = self.values
        shape = (ct.c_int64 * 8)(*v["shape"]) if v["shape"] is not None else None
        strides = (ct.c_int64 * 8)(*v["strides"]) if v["strides"] is not None else None
        tensor = VersionedTensor()
        tensor.major, tensor.minor, tensor.flags = v["major"], 0, v["flags"]
        for name in ("data", "device", "device_id", "ndim", "code", "bits", "lanes", "byte_offset"):
            setattr(tensor, name, v[name])
        tensor.shape = None if shape is None else ct.addressof(shape)
        tensor.strides = None if strides is None else ct.addressof(strides)
        self.capsules.append((tensor, shape, strides))
        return new_capsule(ct.addressof(tensor), b"dltensor_versioned", None)


class VersionedTensor(ct.Structure):
    """DLManagedTensorVersioned, flattened."""

    _fields_ = (
        ("major", ct.c_uint32),
        ("minor", ct.c_uint32),
        ("context", ct.c_void_p),
        ("deleter", ct.c_void_p),
        ("flags", ct.c_uint64),
        ("data", ct.c_void_p),
        ("device", ct.c_int32),
        ("device_id", ct.c_int32),
        ("ndim", ct.c_int32),
        ("code", ct.c_uint8),
        ("bits", ct.c_uint8),
        ("lanes", ct.c_uint16),
        ("shape", ct.c_void_p),
        ("strides", ct.c_void_p),
        ("byte_offset", ct.c_uint64),
    )


new_capsule = ct.pythonapi.PyCapsule_New
new_capsule.restype = ct.py_object
new_capsule.argtypes = [ct.c_void_p, ct.c_char_p, ct.c_void_p]

pointer_of = ct.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ct.c_void_p
pointer_of.argtypes = [ct.py_object, ct.c_char_p]


def with_version(array: Array) -> tuple[object, ...]:
    """A writable array's capsule with a version, and what must live as long."""
    plain = array.__dlpack__()
    tensor = VersionedTensor(major=1)
    start = VersionedTensor.data.offset
    size = ct.sizeof(VersionedTensor) - start
    ct.memmove(ct.addressof(tensor) + start, pointer_of(plain, b"dltensor"), size)
    return new_capsule(ct.addressof(tensor), b"dltensor_versioned", None), plain, tensor


class Elsewhere(Foreign):
    """On a GPU, where exporting to the CPU is not even tried."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 3)


class Failing(Foreign):
    """A producer that raises."""

    def __dlpack__(self, **options: Any) -> object:
        raise BufferError("no export today\nsecond line")


class Strange(Foreign):
    """A producer that returns something else."""

    def __dlpack__(self, **options: Any) -> object:
        return 42


class Interrupted(Foreign):
    """A producer that the user interrupts."""

    def __dlpack__(self, **options: Any) -> object:
        raise KeyboardInterrupt


class Bfloat16(Foreign):
    """What NumPy cannot export: bfloat16."""

    def __dlpack__(self, **options: Any) -> object:
        x = self.array
        self.parts = Described(
            data=x.ctypes.data, code=4, bits=16, shape=x.shape, strides=(1,) * x.ndim, ndim=x.ndim
        )
        return self.parts.__dlpack__()
