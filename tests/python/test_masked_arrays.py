# SPDX-License-Identifier: Apache-2.0
"""Masked arrays of NumPy are refused wherever arrays come in: the device has no masks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import acl
from tests.python.judged import right_case
from tests.python.operators import ELU, OPERATORS, SELU, SMOOTH_L1, TENSORS, Operator, refused

NAMED = {"ids": lambda v: getattr(v, "name", v)}
EXPECTED = "is a masked array; expected an array without a mask: pass .filled(value), or .data"


class Derived(np.ma.MaskedArray):  # type: ignore[type-arg]
    """A masked array of somebody's own class."""


def masked(array: Any) -> Any:
    """The array with its first element masked."""
    made = np.ma.masked_array(array)
    made[(0,) * made.ndim] = np.ma.masked
    return made


@pytest.mark.parametrize(("operator", "name"), TENSORS, **NAMED)
def test_inputs(operator: Operator, name: str) -> None:
    """Also where nothing is masked, or the class is derived: the type decides."""
    array = operator.arrays[name]
    for given in (masked(array), np.ma.masked_array(array), array.view(Derived)):
        refused(operator, name, given, EXPECTED)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_outputs(operator: Operator) -> None:
    """Nothing is written: what a mask hides is not to be overwritten."""
    out = masked(np.full_like(operator.out, 7))
    refused(operator, "out", out, EXPECTED)
    assert (out.data == 7).all()


@pytest.mark.parametrize("name", ["elu_", "selu_"])
def test_in_place(name: str) -> None:
    """As for other outputs."""
    array = masked(np.full(3, -1, np.float32))
    numbers = (1.0, 1.0, 1.0) if name == "elu_" else ()
    with pytest.raises(softnpu.ParamInvalidError, match=re.escape(f"selfRef {EXPECTED}")) as caught:
        getattr(softnpu, name)(array, *numbers)
    assert caught.value.rule == "masked-array"
    assert (array.data == -1).all()


@pytest.mark.parametrize("value", [np.ma.masked, np.ma.masked_array(1.5)], ids=str)
@pytest.mark.parametrize("name", ["alpha", "scale", "input_scale"])
def test_numbers(name: str, value: Any) -> None:
    """An array without dimensions is a number, and a mask would be lost, too."""
    refused(ELU, name, value, EXPECTED)


def test_integers_and_flags() -> None:
    """As for numbers."""
    one = np.ma.masked_array(1, mask=True)
    refused(SMOOTH_L1, "reduction", one, EXPECTED)
    refused(ELU, "is_result", one > 0)


def test_other_subclasses_are_read_as_arrays() -> None:
    """Their memory says all."""
    for kind in (np.matrix, np.memmap, np.recarray):
        result = SELU(lambda array, kind=kind: array.view(kind))
        assert type(result) is np.ndarray
        assert result.tobytes() == SELU().tobytes()


def test_addresses() -> None:
    """The memory at an address has no mask either."""
    with pytest.raises(TypeError, match=re.escape(f"numpy_to_ptr: array {EXPECTED}")):
        acl.util.numpy_to_ptr(masked(np.ones(3, np.float32)))


@pytest.mark.parametrize("name", right_case("elu"))
def test_cases_to_verify(name: str) -> None:
    """Inputs, attributes and results."""
    case = right_case("elu")
    case[name] = np.ma.masked_array(case[name])
    with pytest.raises(ValueError, match=re.escape(f"aclnnElu: {name} {EXPECTED}")):
        softnpu.verify("elu", case)
