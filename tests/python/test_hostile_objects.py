# SPDX-License-Identifier: Apache-2.0
"""Arguments whose own code or contents are hostile: errors, never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softnpu
from tests.python.foreign import Foreign
from tests.python.operators import SELU, SMOOTH_L1, UPSAMPLE, refused

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
    refused(SELU, "result", Placed(device), f"cannot be read: its __dlpack_device__ returns {device}")


def test_a_device_that_cannot_be_read() -> None:
    """The error becomes part of the message."""
    refused(SELU, "result", Placed(5), "cannot be read: TypeError")
    refused(SELU, "result", Placed((Index(ZeroDivisionError("no")), 0)), "ZeroDivisionError: no")
    assert np.array_equal(SELU(result=Placed([1, np.int64(0)])), SELU(result=np.ones((3, 4), "f4")))


def test_a_list_of_sizes_that_changes_while_it_is_read() -> None:
    """It is not read past its new end, nor are elements that are gone."""
    sizes: list[Any] = []

    def clear() -> int:
        sizes.clear()
        return 2

    def replace() -> int:
        sizes[:] = [object() for _ in range(3)]
        return 2

    sizes[:] = [Index(clear), 4, 6]
    refused(UPSAMPLE, "output_size", sizes, "became shorter while it was read")
    sizes[:] = [Index(replace), Index(replace), 6]
    refused(UPSAMPLE, "output_size", sizes, "expected an integer")
    sizes[:] = [2, 4, Index(lambda: sizes.clear() or 6)]
    assert np.array_equal(UPSAMPLE(output_size=sizes), UPSAMPLE())
