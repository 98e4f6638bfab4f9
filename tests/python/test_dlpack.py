# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, through the Python side of DLPack."""

from __future__ import annotations

import ctypes as ct
import re
import sys
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from tests.python.operators import OPERATORS, SELU, SMOOTH_L1, TENSORS, Operator

Array = npt.NDArray[Any]
CPU, CUDA = (1, 0), (2, 3)


class Foreign:
    """An array of a library of which nothing is known but DLPack."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.exports = 0

    def __dlpack__(self, **options: Any) -> object:
        self.exports += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


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


@pytest.mark.parametrize("kind", [Foreign, Old, Standard])
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_a_result_is_of_the_kind_that_came_in(operator: Operator, kind: type[Foreign]) -> None:
    """By the library's own from_dlpack, whichever way it is found."""
    got = operator(kind)
    assert type(got) is (Standard if kind is Standard else Foreign)
    assert np.array_equal(got.array, operator())


@pytest.mark.parametrize(("operator", "name"), TENSORS, ids=lambda v: getattr(v, "name", v))
def test_kinds_may_be_mixed(operator: Operator, name: str) -> None:
    """The first array decides the result's kind."""
    got = operator(**{name: Foreign(operator.arrays[name])})
    assert type(got) is (Foreign if name == next(iter(operator.arrays)) else np.ndarray)
    assert np.array_equal(getattr(got, "array", got), operator())


@pytest.mark.parametrize("kind", [Foreign, Old])
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_out_is_written_in_place_and_returned(operator: Operator, kind: type[Foreign]) -> None:
    """The very object, exported once."""
    out = kind(np.zeros_like(operator.out))
    assert operator(out=out) is out
    assert out.exports == 1
    assert np.array_equal(out.array, operator())


def test_inputs_are_not_copied() -> None:
    """An output may be the same memory as an input, and nothing is said against it."""
    x = SELU.arrays["grad_output"].copy()
    got = softnpu.selu_backward(Foreign(x), SELU.arrays["result"], out=x)
    assert got is x
    assert np.array_equal(x, SELU())


def test_strided_arrays() -> None:
    """Steps, also negative ones."""
    for step in (slice(None, None, 2), slice(None, None, -1)):
        x = np.arange(12, dtype=np.float32)[step]
        got = softnpu.selu_backward(Foreign(x), Foreign(x))
        assert np.array_equal(got.array, softnpu.selu_backward(x, x))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_rank_0_and_empty_arrays(shape: tuple[int, ...]) -> None:
    """Their shape survives."""
    x = np.ones(shape, np.float32)
    assert softnpu.selu_backward(Foreign(x), Foreign(x)).array.shape == shape


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
        shape = (ct.c_int64 * 8)(*v["shape"])
        strides = (ct.c_int64 * 8)(*v["strides"]) if v["strides"] is not None else None
        tensor = VersionedTensor()
        tensor.major, tensor.minor, tensor.flags = v["major"], 0, v["flags"]
        for name in ("data", "device", "device_id", "ndim", "code", "bits", "lanes", "byte_offset"):
            setattr(tensor, name, v[name])
        tensor.shape = ct.addressof(shape)
        tensor.strides = None if strides is None else ct.addressof(strides)
        self.capsules.append((tensor, shape, strides))
        return new_capsule(ct.addressof(tensor), b"dltensor_versioned", None)


class VersionedTensor(ct.Structure):
    """DLManagedTensorVersioned, flattened."""

    _fields_ = [
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
    ]


new_capsule = ct.pythonapi.PyCapsule_New
new_capsule.restype = ct.py_object
new_capsule.argtypes = [ct.c_void_p, ct.c_char_p, ct.c_void_p]


def test_null_strides_mean_contiguous() -> None:
    """As DLPack had it before 1.2."""
    x = Described(strides=None)
    expected = softnpu.selu_backward(x.array, x.array)
    assert np.array_equal(softnpu.selu_backward(x.array, x), expected)


def test_a_byte_offset_is_added() -> None:
    """The data starts behind it."""
    x = Described(shape=(3,), byte_offset=4)
    expected = softnpu.selu_backward(x.array[1:], x.array[1:])
    assert np.array_equal(softnpu.selu_backward(x.array[1:], x), expected)


def test_unaligned_data() -> None:
    """An input is copied, an output refused."""
    x = Described(shape=(3,), byte_offset=2)
    raw = np.frombuffer(x.array.tobytes()[2:14], np.float32)
    grad = np.ones(3, np.float32)
    assert np.array_equal(softnpu.selu_backward(grad, x), softnpu.selu_backward(grad, raw))
    with pytest.raises(softnpu.ParamInvalidError, match="gradInput has data that is not aligned"):
        softnpu.selu_backward(grad, grad, out=x)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"device": 2, "device_id": 1}, "CUDA device 1"),
        ({"device": 10}, "device of DLPack's type 10"),
        ({"code": 7}, "data type of 32 bits with DLPack's code 7"),
        ({"bits": 24}, "data type of 24 bits"),
        ({"lanes": 4}, "data type of 128 bits"),
        ({"major": 2}, "version 2"),
        ({"ndim": 2, "shape": (2**40, 2**40), "strides": (0, 0)}, "over 64 bits"),
    ],
)
def test_what_cannot_be_read(changes: dict[str, Any], message: str) -> None:
    """The message names the argument and says why."""
    with pytest.raises(softnpu.ParamInvalidError, match=re.escape(message)) as caught:
        SELU(result=Described(**changes))
    assert str(caught.value).startswith("aclnnSeluBackwardGetWorkspaceSize: result ")


def test_a_read_only_out() -> None:
    """The producer's flag is respected; as an input the array is welcome."""
    x = Described(flags=1)
    grad = np.ones(4, np.float32)
    with pytest.raises(softnpu.ParamInvalidError, match="gradInput is read-only"):
        softnpu.selu_backward(grad, grad, out=x)
    assert softnpu.selu_backward(grad, x).shape == (4,)


def test_data_that_is_null() -> None:
    """The contract's own rule says so."""
    with pytest.raises(softnpu.ParamNullptrError, match="result has no data"):
        softnpu.selu_backward(np.ones(4, np.float32), Described(data=None))


class Elsewhere(Foreign):
    """On a GPU, where exporting to the CPU is not even tried."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA


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


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Elsewhere, "result lies in the memory of CUDA device 3"),
        (Failing, "result cannot be read: BufferError: no export today"),
        (Strange, "result cannot be read: its __dlpack__ does not return a tensor"),
    ],
)
def test_a_producer_that_does_not_produce(kind: type[Foreign], message: str) -> None:
    """An error of its own becomes part of the message."""
    with pytest.raises(softnpu.ParamInvalidError) as caught:
        SELU(result=kind(SELU.arrays["result"]))
    assert str(caught.value) == "aclnnSeluBackwardGetWorkspaceSize: " + message + (
        "; expected it on the CPU" if kind is Elsewhere else ""
    )


def test_an_interrupt_stays_one() -> None:
    """It is not taken for a wrong argument."""
    with pytest.raises(KeyboardInterrupt):
        SELU(result=Interrupted(SELU.arrays["result"]))


def test_a_library_without_from_dlpack(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no way to make a result of its kind; with out there is no need to."""
    monkeypatch.delattr(sys.modules[__name__], "from_dlpack")
    with pytest.raises(softnpu.ParamInvalidError, match="has no from_dlpack; pass an array as out"):
        SELU(Foreign)
    assert SELU(Foreign, out=Foreign(np.zeros_like(SELU.out))) is not None


def test_results_outlive_everything() -> None:
    """The memory belongs to the array that took it over, and is freed with it."""
    results = [SELU(Foreign) for _ in range(50)]
    for got in results:
        assert np.array_equal(got.array, SELU())


class Bfloat16(Foreign):
    """What NumPy cannot export: bfloat16."""

    def __dlpack__(self, **options: Any) -> object:
        x = self.array
        self.parts = Described(
            data=x.ctypes.data, code=4, bits=16, shape=x.shape, strides=(1,) * x.ndim, ndim=x.ndim
        )
        return self.parts.__dlpack__()


def test_bfloat16() -> None:
    """It has a code of its own."""
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    out = np.zeros_like(x)
    got = softnpu.selu_backward(x, Bfloat16(x), out=out)
    assert got.tobytes() == softnpu.selu_backward(x, x).tobytes()
    assert SMOOTH_L1.function(x, Bfloat16(x), x * 2, "sum", 1).dtype == x.dtype
