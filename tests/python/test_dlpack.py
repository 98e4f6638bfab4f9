# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, through the Python side of DLPack."""

from __future__ import annotations

import re
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softnpu
from tests.python.foreign import (
    Bfloat16,
    Described,
    Elsewhere,
    Failing,
    Foreign,
    Interrupted,
    Old,
    Standard,
    Strange,
)
from tests.python.operators import OPERATORS, SELU, SMOOTH_L1, TENSORS, Operator, refused


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


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_out_is_written_in_place_and_returned(operator: Operator) -> None:
    """The very object, exported once."""
    out = Foreign(np.zeros_like(operator.out))
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
        ({"shape": None}, "describes 1 dimensions without a shape"),
        ({"ndim": -1}, "describes -1 dimensions"),
        ({"ndim": 65}, "describes 65 dimensions"),
        ({"ndim": 2**31 - 1}, "describes 2147483647 dimensions"),
        ({"shape": (-4,)}, "describes the shape [-4], which has a negative size"),
        ({"ndim": 2, "shape": (-2, -2), "strides": (1, 1)}, "the shape [-2, -2]"),
        ({"ndim": 3, "shape": (0, -5, 4), "strides": (1, 1, 1)}, "the shape [0, -5, 4]"),
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


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_an_out_that_cannot_say_whether_it_may_be_written(operator: Operator) -> None:
    """It could be an array that must not change, as JAX's; nothing is written to it."""
    out = Old(np.zeros_like(operator.out))
    refused(operator, "out", out, "its __dlpack__ returns a capsule without a version")
    assert not out.array.any()


def test_data_that_is_null() -> None:
    """The contract's own rule says so."""
    with pytest.raises(softnpu.ParamNullptrError, match="result has no data"):
        softnpu.selu_backward(np.ones(4, np.float32), Described(data=None))


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
    monkeypatch.delattr(sys.modules[Foreign.__module__], "from_dlpack")
    with pytest.raises(softnpu.ParamInvalidError, match="has no from_dlpack; pass an array as out"):
        SELU(Foreign)
    assert SELU(Foreign, out=Foreign(np.zeros_like(SELU.out))) is not None


def test_results_outlive_everything() -> None:
    """The memory belongs to the array that took it over, and is freed with it."""
    results = [SELU(Foreign) for _ in range(50)]
    for got in results:
        assert np.array_equal(got.array, SELU())


def test_bfloat16() -> None:
    """It has a code of its own."""
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    out = np.zeros_like(x)
    got = softnpu.selu_backward(x, Bfloat16(x), out=out)
    assert got.tobytes() == softnpu.selu_backward(x, x).tobytes()
    assert SMOOTH_L1.function(x, Bfloat16(x), x * 2, "sum", 1).dtype == x.dtype


@pytest.mark.parametrize("stride", [2**61, 2**62, 2**63 - 1, -(2**61), -(2**63), 2**55])
def test_strides_that_no_memory_has(stride: int) -> None:
    """Every product of a foreign description is checked; a dimension of size 1 may have any."""
    x = Described(ndim=2, shape=(2, 2), strides=(stride, 1))
    with pytest.raises(softnpu.ParamInvalidError, match="reach further than memory does"):
        SELU(grad_output=x, result=x)
    with pytest.raises(softnpu.ParamInvalidError, match="reach further than memory does"):
        SELU(out=x)
    one = Described(ndim=2, shape=(1, 4), strides=(stride, 1))
    ones = np.ones((1, 4), np.float32)
    expected = softnpu.selu_backward(ones, np.arange(4, dtype=np.float32).reshape(1, 4))
    assert np.array_equal(softnpu.selu_backward(ones, one), expected)


def test_shapes_that_no_memory_has() -> None:
    """A product of sizes beyond 64 bits, or beyond memory, is refused."""
    for shape in ((2**32, 2**32), (2**62, 2), (2**40, 2**20)):
        x = Described(ndim=2, shape=shape, strides=(shape[1], 1))
        with pytest.raises(softnpu.ParamInvalidError, match=r"memory does|64 bits"):
            SELU(grad_output=x, result=x)
