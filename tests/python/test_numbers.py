# SPDX-License-Identifier: Apache-2.0
"""What the functions take for a number, a bool, a reduction, a list of sizes, a format."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softnpu
from tests.python.operators import ELU, SMOOTH_L1, UNPOOL, UPSAMPLE, refused

INVALID = softnpu.ParamInvalidError


class Integer:
    """A number that is an integer and nothing else."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Typed:
    """A number that looks like an array."""

    dtype = "a text"

    def __float__(self) -> float:
        return 2.0


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
        (np.timedelta64(1, "ns"), "expected a number"),
        (np.bytes_(b"1"), "expected a number"),
        (np.clongdouble(1), "expected a number"),
        (np.array(1.0, ">f8"), "has data type >f8, whose bytes are swapped"),
        (np.array(1.0, np.longdouble), "which the device does not have"),
        pytest.param(Integer(10**400), "out of range", id="an Integer of 10**400"),
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
        np.longdouble(2),
        ml_dtypes.bfloat16(2),
        ml_dtypes.float8_e4m3fn(2),
        np.array(2.0),
        np.array(2, np.int16),
        Fraction(2),
        Integer(2),
        Typed(),
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


@pytest.mark.parametrize("value", ["1", 1j, np.complex64(1), np.ones(2)], ids=repr)
def test_beta_and_scales_must_be_real_numbers(value: Any) -> None:
    """They are no pointers in C; None is no beta, but scales that are not given."""
    refused(SMOOTH_L1, "beta", value)
    refused(SMOOTH_L1, "beta", None)
    for name in ("scales_d", "scales_h", "scales_w"):
        refused(UPSAMPLE, name, value)
        assert np.array_equal(UPSAMPLE(**{name: None}), UPSAMPLE())


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (5, "expected a sequence"),
        ({2, 4, 6}, "of class set; expected a sequence"),
        ({2: 0, 4: 0, 6: 0}, "of class dict; expected a sequence"),
        (b"\2\4\6", "of class bytes; expected a sequence"),
        ("246", "of class str; expected a sequence"),
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
