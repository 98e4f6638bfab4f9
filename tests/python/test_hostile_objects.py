# SPDX-License-Identifier: Apache-2.0
"""Arguments whose own code or contents are hostile: errors, never a crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import aclnn
from tests.python.foreign import Foreign
from tests.python.operators import ELU, SELU, SMOOTH_L1, UPSAMPLE, refused

SURROGATE = "\udcff"  # no character, so no UTF-8 has it


class UnprintableError(Exception):
    """An error that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Index:
    """An integer that runs code, or raises, when it is read."""

    def __init__(self, what: Any) -> None:
        self.what = what

    def __index__(self) -> int:
        if isinstance(self.what, Exception):
            raise self.what
        return self.what()  # type: ignore[no-any-return]


class Raising(Foreign):
    """A producer that raises what it is given."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(np.ones((3, 4), np.float32))
        self.error = error

    def __dlpack__(self, **options: Any) -> object:
        raise self.error


def test_text_that_is_not_utf_8() -> None:
    """It shows as escapes."""
    refused(SMOOTH_L1, "reduction", SURROGATE, r'is "\udcff"')
    refused(UPSAMPLE, "format", SURROGATE, r'is "\udcff"')
    refused(SELU, "result", np.zeros((3, 4), [(SURROGATE, "f4")]), r"has data type [('\udcff'")
    refused(SELU, "result", Raising(ValueError(SURROGATE)), r"ValueError: \udcff")


def test_text_with_a_nul() -> None:
    """It does not end there."""
    with pytest.raises(softnpu.ParamInvalidError, match='is "mean\0x"; expected'):
        SMOOTH_L1(reduction="mean\0x")


@pytest.mark.parametrize("module", [SURROGATE, 7, None])
def test_a_class_whose_module_is_no_name(module: Any) -> None:
    """Its own name is shown, whatever stands before it."""
    unnamed = type("Unnamed", (), {"__module__": module})()
    refused(SELU, "result", unnamed, "Unnamed; expected a NumPy array")
    refused(SMOOTH_L1, "beta", unnamed, "Unnamed; expected a number")
    refused(UPSAMPLE, "output_size", unnamed, "Unnamed; expected a sequence")
    foreign = type("Unnamed", (Foreign,), {"__module__": module})
    with pytest.raises(softnpu.ParamInvalidError, match="Unnamed has no from_dlpack"):
        SELU(foreign)


def test_an_error_that_cannot_be_shown() -> None:
    """The name of its class stands for it."""
    refused(SELU, "result", Raising(UnprintableError()), "cannot be read:", "UnprintableError")


class Exhausted(Foreign):
    """A producer whose error is raised by C code, without a value."""

    __dlpack_device__ = iter(()).__next__


def test_an_error_without_a_value() -> None:
    """The name of its class is all that there is to say."""
    refused(SELU, "result", Exhausted(np.ones((3, 4), np.float32)), "cannot be read: StopIteration")


class Placed(Foreign):
    """A producer that says any device."""

    def __init__(self, device: Any) -> None:
        super().__init__(np.ones((3, 4), np.float32))
        self.device = device

    def __dlpack_device__(self) -> Any:
        return self.device


@pytest.mark.parametrize(
    "device",
    [(), (1,), [1], "", {}, (1, 0, 0), (2**40, 0), (1, 2**70), ("a", 0), "10", (1.5, 0), (None, 0)],
    ids=repr,
)
def test_a_device_that_is_none(device: Any) -> None:
    """The message says what came."""
    refused(
        SELU, "result", Placed(device), f"cannot be read: its __dlpack_device__ returns {device}"
    )


def test_a_device_that_cannot_be_read() -> None:
    """The error becomes part of the message."""
    refused(SELU, "result", Placed(5), "cannot be read: TypeError")
    refused(SELU, "result", Placed((Index(ZeroDivisionError("no")), 0)), "ZeroDivisionError: no")
    assert np.array_equal(SELU(result=Placed([1, np.int64(0)])), SELU(result=np.ones((3, 4), "f4")))


def test_a_list_of_sizes_that_changes_while_it_is_read() -> None:
    """It is read as it was."""
    sizes: list[Any] = []

    def clear() -> int:
        sizes.clear()
        return 2

    def replace() -> int:
        sizes[:] = [object() for _ in range(3)]
        return 2

    for first in (clear, replace):
        sizes[:] = [Index(first), Index(lambda: 4), 6]
        assert np.array_equal(UPSAMPLE(output_size=sizes), UPSAMPLE())
    sizes[:] = [2, 4, Index(lambda: sizes.clear() or 6)]
    assert np.array_equal(UPSAMPLE(output_size=sizes), UPSAMPLE())


class Number:
    """A number that runs code when it is read."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action

    def __float__(self) -> float:
        self.action()
        return 1.0


def test_an_array_that_is_resized_while_a_number_is_read() -> None:
    """The contract sees the array as it is when all arguments are read."""
    x = np.ones(2**16, np.float32)
    for name in ("grad_output", "self_or_result", "out"):
        arrays = {"grad_output": x, "self_or_result": x, "out": np.empty_like(x)}
        arrays[name] = resized = arrays[name].copy()
        shrink = Number(lambda resized=resized: resized.resize(4, refcheck=False))
        with pytest.raises(softnpu.ParamInvalidError, match=r"shape \[4\]"):
            softnpu.elu_backward(**arrays, alpha=shrink, scale=1, input_scale=1, is_result=True)


def test_an_array_that_is_resized_while_another_is_exported() -> None:
    """The same for code that an array runs."""
    x = np.ones(2**16, np.float32)
    resized = x.copy()

    class Resizing(Foreign):
        def __dlpack__(self, **options: Any) -> object:
            resized.resize(4, refcheck=False)
            return super().__dlpack__(**options)

    with pytest.raises(softnpu.ParamInvalidError, match=r"shape \[4\]"):
        softnpu.selu_backward(resized, Resizing(x))


def test_an_array_that_is_resized_while_the_result_is_made() -> None:
    """The same for a library that is asked for its functions."""
    x = np.ones(2**16, np.float32)
    resized = x.copy()

    class Resizing(Foreign):
        def __array_namespace__(self) -> object:
            resized.resize(4, refcheck=False)
            return np

    with pytest.raises(softnpu.ParamInvalidError, match=r"shape \[4\]"):
        softnpu.selu_backward(Resizing(x), resized)


def test_an_array_that_is_resized_while_sizes_are_read() -> None:
    """The same for lists of integers."""
    x = np.ones((1, 1, 32, 32, 32), np.float32)
    shrink = Index(lambda: x.resize((1, 1, 1, 1, 1), refcheck=False) or 32)
    with pytest.raises(softnpu.ParamInvalidError, match=r"\[1, 1, 1, 1, 1\]"):
        softnpu.upsample_nearest3d_backward(x, [shrink, 32, 32], [1, 1, 16, 16, 16])


def test_the_documented_order_holds_for_numbers_that_run_code() -> None:
    """The first wrong argument is named, and a format stays with the arrays."""
    wrong = Number(lambda: 1 / 0)
    with pytest.raises(softnpu.ParamInvalidError, match="gradOutput is of class"):
        ELU(grad_output="text", alpha=wrong)
    with pytest.raises(softnpu.ParamInvalidError, match="alpha is no number: ZeroDivisionError"):
        ELU(alpha=wrong, self_or_result="text")
    one = Number(lambda: None)
    grad = UPSAMPLE.arrays["grad_out"].transpose(0, 2, 3, 4, 1).copy()
    sizes = {"output_size": (2, 4, 6), "input_size": (1, 1, 2, 3, 2), "format": "NDHWC"}
    got = softnpu.upsample_nearest3d_backward(grad, scales_d=one, **sizes)
    assert np.array_equal(got, softnpu.upsample_nearest3d_backward(grad, scales_d=1.0, **sizes))


@pytest.mark.parametrize("create", ["aclCreateIntArray", "aclCreateFloatArray"])
def test_a_list_of_aclnn_that_changes_while_it_is_read(create: str) -> None:
    """Its members are those that it had before."""
    values: list[Any] = []
    clear = Index(lambda: values.clear() or 1)
    values[:] = [clear, *(Index(lambda: 1) for _ in range(99))]
    made = getattr(aclnn, create)(values)
    assert getattr(aclnn, create.replace("Create", "Get") + "Size")(made) == 100
    assert values == []
    getattr(aclnn, create.replace("Create", "Destroy"))(made)
