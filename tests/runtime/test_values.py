# SPDX-License-Identifier: Apache-2.0
"""Messages, last errors, versions, sizes of data types, half-precision conversions."""

import ctypes as ct
import platform
import re

import numpy as np
import pytest

from tests.support.acl_runtime import CONTEXT_NULL, PARAM_INVALID, Runtime, in_thread, out
from tests.support.capi_symbols import DTYPES

INNER_NULLPTR = 561103


def test_message_is_returned_once(rt: Runtime) -> None:
    """`aclGetRecentErrMsg` returns and clears the latest message; null when there is none."""
    rt.message()
    assert rt.api.aclGetRecentErrMsg() is None
    assert rt.api.aclrtFree(None) == PARAM_INVALID
    assert rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, 0) == PARAM_INVALID
    assert rt.api.aclrtSynchronizeStream(rt.stream) == 0
    text = rt.api.aclGetRecentErrMsg()
    assert text == (
        b"aclrtSynchronizeStreamWithTimeout: timeout is 0; "
        b"it must be -1 (for ever) or above 0 (milliseconds)"
    )
    assert rt.api.aclGetRecentErrMsg() is None


def test_messages_belong_to_threads(rt: Runtime) -> None:
    """A thread sees its own failures only."""
    rt.message()
    assert rt.api.aclrtFree(None) == PARAM_INVALID
    assert in_thread(rt.api.aclGetRecentErrMsg) is None
    assert rt.api.aclGetRecentErrMsg() is not None


@pytest.mark.parametrize("first", ["acl", "Acl"])
def test_message_names_the_called_spelling(rt: Runtime, first: str) -> None:
    """Functions with two spellings name themselves as they were called."""
    for name in ("SetTensorAddr", "SetInputTensorAddr", "SetOutputTensorAddr"):
        assert getattr(rt.api, first + name)(None, 0, None, None) == INNER_NULLPTR
        assert rt.message() == f"{first}{name}: executor is null"
    assert getattr(rt.api, f"{first}SetAclOpExecutorRepeatable")(None) == INNER_NULLPTR
    assert rt.message() == f"{first}SetAclOpExecutorRepeatable: executor is null"


def test_message_pointer_stays_valid(rt: Runtime) -> None:
    """The pointer that aclGetRecentErrMsg gave is valid until it is called again."""
    get = ct.CFUNCTYPE(ct.c_void_p)(ct.cast(rt.api.aclGetRecentErrMsg, ct.c_void_p).value or 0)
    assert rt.api.aclrtFree(None) == PARAM_INVALID
    pointer = get()
    assert rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, 0) == PARAM_INVALID
    assert ct.string_at(pointer) == b"aclrtFree: devPtr is null"
    assert get() != pointer


def test_last_error(rt: Runtime) -> None:
    """Get returns this thread's latest runtime failure and clears it, Peek keeps it."""
    assert rt.api.aclrtPeekAtLastError(0) == 0
    assert rt.api.aclrtFree(None) == PARAM_INVALID
    assert rt.api.aclrtSynchronizeStream(rt.stream) == 0
    assert rt.api.aclrtPeekAtLastError(0) == PARAM_INVALID
    assert rt.api.aclrtGetLastError(0) == PARAM_INVALID
    assert rt.api.aclrtGetLastError(0) == 0
    assert in_thread(lambda: (rt.api.aclrtSynchronizeDevice(), rt.api.aclrtGetLastError(0))) == (
        CONTEXT_NULL,
        CONTEXT_NULL,
    )
    assert rt.api.aclrtPeekAtLastError(0) == 0
    assert rt.api.aclrtPeekAtLastError(1) == PARAM_INVALID


def test_machine(rt: Runtime) -> None:
    """The version is three numbers, the run mode is host, the product has a name."""
    numbers = [ct.c_int32(-1) for _ in range(3)]
    rt.check(rt.api.aclrtGetVersion(*(ct.byref(n) for n in numbers)))
    assert all(n.value >= 0 for n in numbers)
    assert rt.api.aclrtGetVersion(None, None, None) == PARAM_INVALID
    assert out(ct.c_int, rt.api.aclrtGetRunMode) == (0, 1)
    assert rt.api.aclrtGetRunMode(None) == PARAM_INVALID
    assert re.fullmatch(rb"Ascend\w+", rt.api.aclrtGetSocName())


SIZES = {
    "UNDEFINED": 0, "FLOAT": 4, "FLOAT16": 2, "INT8": 1, "INT32": 4, "UINT8": 1, "INT16": 2,
    "UINT16": 2, "UINT32": 4, "INT64": 8, "UINT64": 8, "DOUBLE": 8, "BOOL": 1, "STRING": 0,
    "COMPLEX64": 8, "COMPLEX128": 16, "BF16": 2, "INT4": 0, "UINT1": 0, "COMPLEX32": 4,
    "HIFLOAT8": 1, "FLOAT8_E5M2": 1, "FLOAT8_E4M3FN": 1, "FLOAT8_E8M0": 1, "FLOAT6_E3M2": 0,
    "FLOAT6_E2M3": 0, "FLOAT4_E2M1": 0, "FLOAT4_E1M2": 0,
}  # fmt: skip


def test_data_type_sizes(rt: Runtime) -> None:
    """`aclDataTypeSize` gives an element's bytes, 0 where they are no whole number or unknown."""
    assert {name: rt.api.aclDataTypeSize(number) for name, number in DTYPES.items()} == SIZES
    assert rt.api.aclDataTypeSize(5) == 0
    assert rt.api.aclDataTypeSize(1000) == 0


def test_every_half_to_float(rt: Runtime) -> None:
    """Finite halves convert exactly; infinities give 65536 and NaNs 98304, with their signs."""
    every = np.arange(65536, dtype=np.uint16)
    computed = np.array([rt.api.aclFloat16ToFloat(int(h)) for h in every], np.float32)
    expected = every.view(np.float16).astype(np.float32)
    special = ~np.isfinite(expected)
    saturated = np.where(np.isnan(expected), 98304, 65536) * np.where(every & 0x8000, -1, 1)
    expected[special] = saturated[special]
    assert (computed.view(np.uint32) == expected.view(np.uint32)).all()
    assert rt.api.aclFloat16ToFloat(0x7C00) == 65536
    assert rt.api.aclFloat16ToFloat(0xFC00) == -65536
    for nan in (0x7C01, 0x7E00, 0x7FFF):
        assert rt.api.aclFloat16ToFloat(nan) == 98304
        assert rt.api.aclFloat16ToFloat(0x8000 | nan) == -98304


@pytest.mark.parametrize(
    ("value", "half"),
    [
        (np.nan, 0x7BFF), (-np.nan, 0x7BFF), (np.inf, 0x7BFF), (-np.inf, 0xFBFF),
        (1e38, 0x7BFF), (-1e38, 0xFBFF), (65519.0, 0x7BFF), (65520.0, 0x7BFF), (-65520.0, 0xFBFF),
        (0.0, 0x0000), (-0.0, 0x8000), (1.0, 0x3C00), (2.0**-24, 0x0001), (2.0**-25, 0x0000),
    ],
)  # fmt: skip
def test_float_to_half_saturates(rt: Runtime, value: float, half: int) -> None:
    """NaN, infinities and numbers too large become the largest finite half."""
    assert rt.api.aclFloatToFloat16(value) == half


def test_float_to_half_rounds(rt: Runtime) -> None:
    """Finite numbers round to the nearest half, ties to even, like IEEE 754 does."""
    random = np.random.default_rng(3)
    values = random.standard_normal(5000).astype(np.float32)
    values *= np.exp2(random.integers(-26, 16, 5000)).astype(np.float32)
    values = values[np.abs(values) < 65504]
    halves = np.arange(0, 0x7BFF, 7, dtype=np.uint16).view(np.float16).astype(np.float32)
    above = np.arange(1, 0x7C00, 7, dtype=np.uint16).view(np.float16).astype(np.float32)
    values = np.concatenate([values, halves, (halves + above) / 2])
    computed = np.array([rt.api.aclFloatToFloat16(float(v)) for v in values], np.uint16)
    assert (computed == values.astype(np.float16).view(np.uint16)).all()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of the mode is x86's")
def test_float_to_half_whatever_the_callers_rounding(rt: Runtime) -> None:
    """A caller that rounds upwards gets the nearest half all the same."""
    upwards, nearest = 0x800, 0
    values = [5.97e-8, 2.9e-8, 1e-5, 1.0001]
    expected = [rt.api.aclFloatToFloat16(value) for value in values]
    assert expected == [
        int(np.float32(value).astype(np.float16).view(np.uint16)) for value in values
    ]
    libm = ct.CDLL("libm.so.6")
    assert libm.fesetround(upwards) == 0
    try:
        found = [rt.api.aclFloatToFloat16(value) for value in values]
    finally:
        libm.fesetround(nearest)
    assert found == expected
