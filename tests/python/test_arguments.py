# SPDX-License-Identifier: Apache-2.0
"""What the functions refuse before the contract sees it, and what they take as a number."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softnpu
from tests.python.operators import (
    ELU,
    OPERATORS,
    SELU,
    SMOOTH_L1,
    TENSORS,
    UNPOOL,
    UPSAMPLE,
    Operator,
)

NAMED = {"ids": lambda v: getattr(v, "name", v)}
INVALID = softnpu.ParamInvalidError


def refused(operator: Operator, name: str, value: Any, *parts: str, **more: Any) -> None:
    """The call raises 161002, and the message names operator, argument and what is wrong."""
    with pytest.raises(INVALID) as caught:
        operator(**{name: value}, **more)
    message = str(caught.value)
    assert caught.value.status == 161002
    assert message.startswith(operator.aclnn + "GetWorkspaceSize: "), message
    for part in (operator.documented[name], *parts):
        assert re.search(rf"\b{re.escape(part)}", message), (part, message)


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


@pytest.mark.parametrize("value", [[[1.0, 2.0]], 3.0, "text", object(), {}, b"bytes"], ids=repr)
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
    pointers += [n for n in ("output_size", "input_size", "stride", "padding") if n in operator.rest]
    for name in pointers:
        with pytest.raises(softnpu.ParamNullptrError) as caught:
            operator(**{name: None})
        expected = f"{operator.aclnn}GetWorkspaceSize: {operator.documented[name]} is null"
        assert str(caught.value) == expected
        assert caught.value.status == 161001


def test_null_is_reported_before_anything_else_that_is_wrong() -> None:
    """The documented order holds for what only Python can get wrong, too."""
    swapped = ELU.arrays["grad_output"].astype(">f4")
    with pytest.raises(softnpu.ParamNullptrError, match="selfOrResult is null"):
        ELU(grad_output=swapped, alpha="text", self_or_result=None)


@pytest.mark.parametrize("name", ["alpha", "scale", "input_scale"])
@pytest.mark.parametrize(
    ("value", "part"),
    [
        (1j, "COMPLEX128"),
        (np.complex64(1), "COMPLEX64"),
        ("1", "expected a number"),
        ([1.0], "expected a number"),
        (np.ones(1), "expected a number"),
        (10**400, "out of range"),
        (np.str_("1"), "expected a number"),
        (np.datetime64("2020-01-01"), "expected a number"),
    ],
    ids=repr,
)
def test_what_is_no_real_number(name: str, value: Any, part: str) -> None:
    """Complex numbers break the contract's own rule, whatever their imaginary part."""
    refused(ELU, name, value, part)


@pytest.mark.parametrize(
    "value",
    [
        2,
        2.0,
        np.float16(2),
        np.float32(2),
        np.float64(2),
        np.int8(2),
        np.uint64(2),
        np.longdouble(2).astype(float),
        ml_dtypes.bfloat16(2),
        np.array(2.0),
        np.array(2, np.int16),
        Fraction(2),
    ],
    ids=lambda v: type(v).__name__ + str(getattr(v, "dtype", "")),
)
def test_every_kind_of_real_number_is_one(value: Any) -> None:
    """Python's, NumPy's and those that convert to float."""
    assert np.array_equal(ELU(scale=value), ELU(scale=2.0))
    assert np.array_equal(SMOOTH_L1(beta=value), SMOOTH_L1(beta=2.0))


def test_bools_are_numbers() -> None:
    """As in C, where BOOL converts to FLOAT."""
    assert np.array_equal(ELU(scale=True), ELU(scale=1.0))
    assert np.array_equal(ELU(scale=np.True_), ELU(scale=1.0))


def test_integers_beyond_64_bits_are_rounded() -> None:
    """They convert to FLOAT as any other."""
    assert np.array_equal(ELU(scale=2**100), ELU(scale=float(2**100)))


@pytest.mark.parametrize("value", [None, "False", 0.0, [True], np.ones(2, bool)], ids=repr)
def test_is_result_must_be_a_bool(value: Any) -> None:
    """The truth of other objects is not asked for."""
    refused(ELU, "is_result", value, "expected a bool")


@pytest.mark.parametrize("value", [True, np.True_, 1])
def test_is_result_may_be_numpys(value: Any) -> None:
    """Or an integer, as in C."""
    positive = np.abs(ELU.arrays["self_or_result"])
    got = ELU(is_result=value, self_or_result=-positive)
    assert np.array_equal(got, ELU(is_result=True, self_or_result=-positive))
    assert not np.array_equal(got, ELU(is_result=False, self_or_result=-positive))


@pytest.mark.parametrize(("text", "number"), [("none", 0), ("mean", 1), ("sum", 2)])
def test_reduction_by_name_and_by_number(text: str, number: int) -> None:
    """Three names for the documented numbers."""
    by_name = SMOOTH_L1(reduction=text)
    assert np.array_equal(by_name, SMOOTH_L1(reduction=number))
    assert np.array_equal(by_name, SMOOTH_L1(reduction=np.int32(number)))


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("batchmean", '"batchmean"'),
        ("MEAN", '"MEAN"'),
        (1.0, "float"),
        (None, "NoneType"),
        (3, "is 3"),
        (2**70, "64-bit"),
    ],
)
def test_another_reduction(value: Any, part: str) -> None:
    """The message says what is expected."""
    with pytest.raises(INVALID, match=re.escape(part)) as caught:
        SMOOTH_L1(reduction=value)
    assert "reduction" in str(caught.value)


@pytest.mark.parametrize("value", [None, "1", 1j, np.complex64(1), np.ones(2)], ids=repr)
def test_beta_and_scales_must_be_real_numbers(value: Any) -> None:
    """They are no pointers in C, so None is as wrong as a text."""
    refused(SMOOTH_L1, "beta", value)
    for name in ("scales_d", "scales_h", "scales_w"):
        refused(UPSAMPLE, name, value)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (5, "expected a sequence"),
        ("abc", "expected an integer"),
        ([1, 2.5, 3], "element 1"),
        ([1, 2, 2**64], "element 2"),
        ([1, None, 3], "element 1"),
    ],
    ids=repr,
)
def test_sizes_must_be_sequences_of_integers(value: Any, part: str) -> None:
    """The message says which element is not one."""
    for operator, names in (
        (UPSAMPLE, ("output_size", "input_size")),
        (UNPOOL, ("output_size", "stride", "padding")),
    ):
        for name in names:
            refused(operator, name, value, part)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda v: (x for x in v)])
def test_sizes_of_any_kind(kind: Callable[[list[int]], Any]) -> None:
    """Lists, tuples, arrays and iterators."""
    assert np.array_equal(UPSAMPLE(output_size=kind([2, 4, 6])), UPSAMPLE())


@pytest.mark.parametrize("value", ["ncdhw", "", "NDC", 30, None], ids=repr)
def test_another_format(value: Any) -> None:
    """Only documented names."""
    refused(UPSAMPLE, "format", value)


def test_every_public_format_but_one_reads_as_ncdhw() -> None:
    """And a private one breaks the contract."""
    for name in ("ND", "NCHW", "NHWC", "HWCN", "NC", "NCL", "NCDHW"):
        assert np.array_equal(UPSAMPLE(format=name), UPSAMPLE())
    refused(UPSAMPLE, "grad_out", UPSAMPLE.arrays["grad_out"], "NDC1HWC0", format="NDC1HWC0")


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
    with pytest.raises(TypeError, match="positional arguments"):
        getattr(softnpu._core, operator.name)(1, 2)
