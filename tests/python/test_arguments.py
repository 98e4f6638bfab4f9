# SPDX-License-Identifier: Apache-2.0
"""What the functions refuse before the contract sees it."""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softnpu
from tests.python.operators import ELU, OPERATORS, SELU, TENSORS, Operator, refused

NAMED = {"ids": lambda v: getattr(v, "name", v)}
INVALID = softnpu.ParamInvalidError


@pytest.mark.parametrize(("operator", "name"), TENSORS, **NAMED)
def test_a_byte_swapped_array(operator: Operator, name: str) -> None:
    """Refused by name, not computed with and not converted."""
    array = operator.arrays[name]
    refused(operator, name, array.astype(array.dtype.newbyteorder()), "bytes are swapped")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_a_byte_swapped_out(operator: Operator) -> None:
    """As for inputs."""
    out = operator.out.astype(operator.out.dtype.newbyteorder())
    refused(operator, "out", out, "bytes are swapped")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_a_read_only_out(operator: Operator) -> None:
    """Nothing is written to it."""
    out = np.zeros_like(operator.out)
    out.flags.writeable = False
    refused(operator, "out", out, "read-only")
    assert not out.any()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_an_unaligned_out(operator: Operator) -> None:
    """It cannot be copied as an input is."""
    table = np.zeros(operator.out.shape, [("pad", "u1"), ("value", "f4")])
    refused(operator, "out", table["value"], "aligned")


def test_an_out_whose_strides_are_no_multiple_of_its_items() -> None:
    """NumPy calls it aligned: complex numbers need only be aligned to their parts."""
    table = np.zeros(12, [("pad", "f4"), ("value", "c8")]).reshape(3, 4)
    assert table["value"].flags.aligned
    refused(ELU, "out", table["value"], "aligned")
    assert not table["value"].any()


@pytest.mark.parametrize(
    "dtype", ["O", "U3", "S3", "V5", "M8[s]", "m8[s]", "longdouble", [("a", "f4")]], ids=str
)
@pytest.mark.parametrize(("operator", "name"), TENSORS, **NAMED)
def test_a_data_type_that_the_device_does_not_have(
    operator: Operator, name: str, dtype: Any
) -> None:
    """The message says which."""
    shape = operator.arrays[name].shape
    array = np.zeros(shape, dtype)
    refused(operator, name, array, "has data type " + str(array.dtype))


def test_a_foreign_type_of_ml_dtypes() -> None:
    """Only bfloat16 is a type of the device."""
    x = np.zeros(3, ml_dtypes.float8_e5m2)
    with pytest.raises(INVALID, match="gradOutput has data type float8_e5m2"):
        softnpu.selu_backward(x, x)


@pytest.mark.parametrize(
    "value", [[[1.0, 2.0]], 3.0, "text", object(), {}, b"bytes"], ids=lambda v: type(v).__name__
)
@pytest.mark.parametrize(("operator", "name"), TENSORS, **NAMED)
def test_what_is_no_array(operator: Operator, name: str, value: Any) -> None:
    """Lists and numbers are not converted behind the caller's back."""
    refused(operator, name, value, type(value).__name__, "expected a NumPy array")


def test_a_numpy_scalar_as_out() -> None:
    """It has no memory of its own to write to."""
    refused(SELU, "out", np.float32(1), "NumPy scalar")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_none_is_null(operator: Operator) -> None:
    """For every argument that is a pointer in C, the first of them first."""
    pointers = [*operator.arrays]
    pointers += [n for n in ("alpha", "scale", "input_scale") if n in operator.rest]
    pointers += [
        n for n in ("output_size", "input_size", "stride", "padding") if n in operator.rest
    ]
    for name in pointers:
        with pytest.raises(softnpu.ParamNullptrError) as caught:
            operator(**{name: None})
        expected = f"{operator.aclnn}GetWorkspaceSize: {operator.documented[name]} is null"
        assert str(caught.value) == expected
        assert caught.value.status == 161001


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        (o, name)
        for o in OPERATORS
        for name in ("is_result", "reduction", "beta", "format")
        if name in inspect.signature(o.function).parameters
    ],
    **NAMED,
)
def test_none_is_no_number(operator: Operator, name: str) -> None:
    """What is no pointer in C cannot be null: None is a wrong value like others."""
    refused(operator, name, None, "is of class NoneType")


def test_null_is_reported_before_anything_else_that_is_wrong() -> None:
    """The documented order holds for what only Python can get wrong, too."""
    swapped = ELU.arrays["grad_output"].astype(">f4")
    with pytest.raises(softnpu.ParamNullptrError, match="selfOrResult is null"):
        ELU(grad_output=swapped, alpha="text", self_or_result=None)


def test_a_result_that_no_address_space_holds() -> None:
    """The broadcast of two views of one element each can be larger than 64 bits."""
    tall = np.broadcast_to(np.float32(1), (2**40, 1))
    wide = np.broadcast_to(np.float32(1), (1, 2**40))
    with pytest.raises(INVALID, match="gradInput would have shape"):
        softnpu.smooth_l1_loss_backward(tall, tall, wide, 0, 1.0)


def test_a_result_that_does_not_fit_memory() -> None:
    """Memory that runs out is Python's own error."""
    tall = np.broadcast_to(np.float32(1), (2**30, 1))
    wide = np.broadcast_to(np.float32(1), (1, 2**30))
    with pytest.raises(MemoryError):
        softnpu.smooth_l1_loss_backward(tall, tall, wide, 0, 1.0)


def test_nothing_is_allocated_before_the_checks_pass() -> None:
    """The same result would not fit, but beta is wrong."""
    tall = np.broadcast_to(np.float32(1), (2**30, 1))
    wide = np.broadcast_to(np.float32(1), (1, 2**30))
    with pytest.raises(INVALID, match="beta is -1"):
        softnpu.smooth_l1_loss_backward(tall, tall, wide, 0, -1.0)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_a_wrong_number_of_arguments_is_a_type_error(operator: Operator) -> None:
    """Python's own error, as for any function."""
    with pytest.raises(TypeError, match="argument"):
        operator.function()
    with pytest.raises(TypeError, match="argument"):
        operator(nonsense=1)
    with pytest.raises(TypeError, match=r"\(\) takes .*\d positional arguments? but 9 were given"):
        operator.function(*range(9))
    with pytest.raises(TypeError, match="argument"):
        getattr(softnpu._core, operator.name)(1)
