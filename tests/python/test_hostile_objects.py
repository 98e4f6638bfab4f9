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
