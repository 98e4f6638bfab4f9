# SPDX-License-Identifier: Apache-2.0
"""What programs ask about a device, and the folder of compiled operators that they name."""

import ctypes as ct

import pytest

from tests.support.acl_runtime import (
    INVALID_DEVICEID,
    INVALID_PARAM,
    PARAM_INVALID,
    Runtime,
    in_fresh_process,
    message,
    out,
)
from tests.support.capi_symbols import Functions

FUNCTIONS = ["aclrtGetDeviceInfo", "aclGetDeviceCapability", "aclrtGetDeviceCapability"]
AI_CORES, VECTOR_CORES, L2_BYTES = 0, 1, 2


def all_values(api: Functions) -> list[int]:
    """AI cores, vector cores and bytes of the L2 cache, which all functions agree on."""
    values = []
    for what in (AI_CORES, VECTOR_CORES, L2_BYTES):
        got = {out(ct.c_int64, getattr(api, function), 0, what) for function in FUNCTIONS}
        assert len(got) == 1
        status, value = got.pop()
        assert status == 0
        values.append(value)
    return values


@in_fresh_process(SOFTNPU_SOC="Ascend910B4")
def test_a_product_with_public_numbers(api: Functions) -> None:
    """They are known without a device, and do not depend on this machine."""
    assert all_values(api) == [20, 40, 96 << 20]


@in_fresh_process(SOFTNPU_SOC="Ascend950PR_9589", SOFTNPU_THREADS="1")
def test_a_product_without(api: Functions) -> None:
    """The numbers of threads, and some cache."""
    *cores, cache = all_values(api)
    assert cores == [1, 1]
    assert cache > 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_misuse(rt: Runtime, function: str) -> None:
    """A device that is not there gives 107001, another wrong argument 107000."""
    ask = getattr(rt.api, function)
    for device in (99, 2**32 - 1):
        assert out(ct.c_int64, ask, device, 0) == (INVALID_DEVICEID, 0)
        assert f"deviceId is {device}" in rt.message()
    name = "attr" if function == "aclrtGetDeviceInfo" else "deviceInfo"
    for what in (-1, 3):
        assert out(ct.c_int64, ask, 0, what) == (PARAM_INVALID, 0)
        assert f"{function}: {name} is {what}; it must be one of" in rt.message()
    assert ask(0, 0, None) == PARAM_INVALID
    assert "value is null" in rt.message()


@in_fresh_process
def test_the_folder_of_compiled_operators(api: Functions) -> None:
    """Any name is accepted, before aclInit too; null is 100000."""
    assert api.aclopSetModelDir(b"op_models") == 0
    assert api.aclopSetModelDir(b"") == 0
    assert api.aclopSetModelDir(None) == INVALID_PARAM
    assert message(api) == "aclopSetModelDir: modelDir is null"
