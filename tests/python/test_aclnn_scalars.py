# SPDX-License-Identifier: Apache-2.0
"""softnpu.aclnn.aclCreateScalar: which numbers it takes, and what becomes of them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softnpu
from softnpu import aclnn
from tests.python.two_phases import Bench, X, run


class Own:
    """A number of a class that nobody knows."""

    def __float__(self) -> float:
        return 2.5


def value_of(bench: Bench, scalar: int) -> float:
    """What an operator reads, as float32; the scalar is destroyed."""
    one = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    out = bench.tensor(np.zeros_like(X))
    tensors = bench.tensor(np.ones_like(X)), bench.tensor(np.abs(X) + 1)
    run(bench, "aclnnEluBackward", tensors[0], one, scalar, one, True, tensors[1], out)
    aclnn.aclDestroyScalar(scalar)
    values = bench.read(out, X.shape)
    assert (values == values[0, 0]).all()
    return float(values[0, 0])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, "ACL_FLOAT"),
        (1.5, "ACL_FLOAT16"),
        (1.5, "ACL_BF16"),
        (1.5, "ACL_DOUBLE"),
        (2, "ACL_INT8"),
        (2, "ACL_UINT64"),
        (True, "ACL_BOOL"),
    ],
)
def test_a_scalar_holds_its_value_in_its_type(bench: Bench, value: Any, dtype: str) -> None:
    """As an operator reads it."""
    scalar = aclnn.aclCreateScalar(value, getattr(aclnn, dtype))
    assert value_of(bench, scalar) == float(value)


def test_scalars_that_cannot_be() -> None:
    """No value, no such type, a value that does not fit."""
    with pytest.raises(softnpu.AclnnError):
        aclnn.aclCreateScalar(None, aclnn.ACL_FLOAT)
    with pytest.raises(softnpu.AclnnError):
        aclnn.aclCreateScalar(1, aclnn.ACL_STRING)
    with pytest.raises(OverflowError):
        aclnn.aclCreateScalar(1000, aclnn.ACL_INT8)


@pytest.mark.parametrize("dtype", ["ACL_FLOAT", "ACL_INT32", "ACL_BOOL", "ACL_COMPLEX32"])
@pytest.mark.parametrize(
    "value",
    [
        *("1", b"1", [1, 2], [1.0], np.ones(1), np.datetime64(1, "s")),
        pytest.param(object(), id="an object"),
    ],
    ids=repr,
)
def test_what_is_no_number_is_no_scalar(value: Any, dtype: str) -> None:
    """It is not converted behind the caller's back."""
    with pytest.raises(TypeError, match="aclCreateScalar: value is of class"):
        aclnn.aclCreateScalar(value, getattr(aclnn, dtype))


@pytest.mark.parametrize("dtype", ["ACL_FLOAT", "ACL_BF16", "ACL_INT32"])
@pytest.mark.parametrize("value", [1j, np.complex64(1)], ids=repr)
def test_a_complex_number_is_no_real_scalar(value: Any, dtype: str) -> None:
    """The imaginary part is not dropped."""
    with pytest.raises(TypeError, match="aclCreateScalar: value is complex, but dataType is"):
        aclnn.aclCreateScalar(value, getattr(aclnn, dtype))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "dtype", ["ACL_FLOAT", "ACL_FLOAT16", "ACL_BF16", "ACL_COMPLEX64", "ACL_COMPLEX32"]
)
@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, np.float64(1e300)], ids=repr)
def test_a_scalar_beyond_the_range_of_its_type(value: Any, dtype: str) -> None:
    """It is infinity, or zero, without a warning."""
    with np.errstate(all="raise"):
        aclnn.aclDestroyScalar(aclnn.aclCreateScalar(value, getattr(aclnn, dtype)))


@pytest.mark.parametrize(
    "value",
    [
        Decimal("2.5"),
        Fraction(5, 2),
        np.float32(2.5),
        np.array(2.5),
        ml_dtypes.bfloat16(2.5),
        ml_dtypes.float8_e5m2(2.5),
        Own(),
    ],
    ids=lambda v: type(v).__name__,
)
def test_every_kind_of_number_makes_a_scalar(bench: Bench, value: Any) -> None:
    """As given for a floating type, cut for an integer type."""
    for dtype in (aclnn.ACL_FLOAT, aclnn.ACL_BF16):
        assert value_of(bench, aclnn.aclCreateScalar(value, dtype)) == 2.5
    for dtype in (aclnn.ACL_INT8, aclnn.ACL_INT16, aclnn.ACL_UINT64):
        assert value_of(bench, aclnn.aclCreateScalar(value, dtype)) == 2


def test_small_integers_of_other_libraries(bench: Bench) -> None:
    """The limits of the type are no numbers of theirs."""
    assert value_of(bench, aclnn.aclCreateScalar(ml_dtypes.int4(-2), aclnn.ACL_INT32)) == -2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1 + 2**-8, 1),
        (1 + 2**-8 + 2**-30, 1 + 2**-7),
        (1 + 3 * 2**-8 - 2**-30, 1 + 2**-7),
        (2**24 + 2**16 + 1, 2**24 + 2**17),
    ],
)
def test_bfloat16_scalars_are_rounded_once(bench: Bench, value: float, expected: float) -> None:
    """Not to float32 first, which would make a tie of what lies beside one."""
    assert value_of(bench, aclnn.aclCreateScalar(value, aclnn.ACL_BF16)) == expected


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.float64(2**63), "ACL_INT64"),
        (np.float64(2**64), "ACL_UINT64"),
        (np.float32(2**31), "ACL_INT32"),
        (np.array(2**32, np.float32), "ACL_UINT32"),
        (np.float16(2**15), "ACL_INT16"),
        (np.float16("inf"), "ACL_INT32"),
        (np.float32("nan"), "ACL_INT8"),
    ],
    ids=str,
)
def test_the_first_number_beyond_an_integer_type(value: Any, dtype: str) -> None:
    """It does not wrap, although the largest that fits is rounded to it in its own type."""
    with pytest.raises(OverflowError, match=r"aclCreateScalar: .* does not fit"):
        aclnn.aclCreateScalar(value, getattr(aclnn, dtype))


@pytest.mark.parametrize("kind", [int, np.int64, Fraction, Decimal])
@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (2**62 + 2**38 + 1, "ACL_FLOAT", 2**62 + 2**39),
        (2**62 + 2**38 - 1, "ACL_FLOAT", 2**62),
        (2**62 + 2**38, "ACL_FLOAT", 2**62),
        (2**62 + 3 * 2**38 - 1, "ACL_FLOAT", 2**62 + 2**39),
        (-(2**62) - 2**38 - 1, "ACL_FLOAT", -(2**62) - 2**39),
        (2**60 + 2**52 + 1, "ACL_BF16", 2**60 + 2**53),
    ],
)
def test_large_numbers_are_rounded_once(
    bench: Bench, kind: Any, value: int, dtype: str, expected: int
) -> None:
    """Not to float64 first, where what lies beside a tie becomes one."""
    scalar = aclnn.aclCreateScalar(kind(abs(value)), getattr(aclnn, dtype))
    assert value_of(bench, scalar) == abs(expected)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad:UserWarning")
def test_tensors_that_numpy_cannot_see_make_scalars(bench: Bench) -> None:
    """Those that require grad, or of a type that it lacks."""
    torch = pytest.importorskip("torch")
    for number in (
        torch.tensor(2.5, requires_grad=True),
        torch.tensor(2.5, dtype=torch.bfloat16),
        torch.tensor(2.5),
    ):
        assert value_of(bench, aclnn.aclCreateScalar(number, aclnn.ACL_FLOAT)) == 2.5


def test_a_data_type_that_is_no_number() -> None:
    """It is told as what it is."""
    with pytest.raises(TypeError, match="integer"):
        aclnn.aclCreateScalar(1, [0])  # type: ignore[arg-type]


def test_complex_and_bfloat16_scalars_exist() -> None:
    """They are descriptors like any other, whatever takes them."""
    for value, dtype in ((1 + 2j, aclnn.ACL_COMPLEX64), (ml_dtypes.bfloat16(2), aclnn.ACL_BF16)):
        scalar = aclnn.aclCreateScalar(value, dtype)
        assert scalar > 0
        aclnn.aclDestroyScalar(scalar)
        with pytest.raises(softnpu.ParamInvalidError):
            aclnn.aclDestroyScalar(scalar)
