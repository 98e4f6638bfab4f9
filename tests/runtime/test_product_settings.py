# SPDX-License-Identifier: Apache-2.0
"""The product and the number of devices, as the environment sets them."""

import ctypes as ct

import pytest

from tests.support.acl_runtime import (
    INVALID_PARAM,
    in_fresh_process,
    message,
    out,
    run_python,
)
from tests.support.capi_symbols import Functions

PRODUCTS = ["Ascend950", "Ascend910_93", "Ascend910B", "Ascend310B", "Ascend310P", "Ascend910"]


@pytest.mark.parametrize("name", [None, "", *PRODUCTS])
def test_product(name: str | None) -> None:
    """SOFTNPU_SOC chooses the product; without it the product is Ascend910B."""
    program = "from tests.support.capi_symbols import functions as f; print(f().aclrtGetSocName())"
    environment = {} if name is None else {"SOFTNPU_SOC": name}
    done = run_python(program, **environment)
    assert done.stdout == f"{(name or 'Ascend910B').encode()!r}\n"


BF16 = "from softnpu import _core; print(_core.info()['bf16'])"
FULL_NAMES = {
    "Ascend910B1": "Ascend910B1",
    "ascend910b2c": "Ascend910B2C",
    "ASCEND910B4-1": "Ascend910B4-1",
    "Ascend910_9391": "Ascend910_9391",
    "ascend910_9372": "Ascend910_9372",
    "ascend310p3": "Ascend310P3",
    "Ascend310B4": "Ascend310B4",
    "ascend910proa": "Ascend910ProA",
    "Ascend910PremiumA": "Ascend910PremiumA",
    "Ascend950": "Ascend950",
    "ascend950pr_9589": "Ascend950PR_9589",
    "Ascend950DT_95A1": "Ascend950DT_95A1",
}


@pytest.mark.parametrize("given", FULL_NAMES)
def test_full_names_of_products(given: str) -> None:
    """SOFTNPU_SOC takes full names, in any case; aclrtGetSocName spells them as clients do."""
    program = "from tests.support.capi_symbols import functions as f; print(f().aclrtGetSocName())"
    assert run_python(program, SOFTNPU_SOC=given).stdout == f"{FULL_NAMES[given].encode()!r}\n"


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("Ascend910B3", True),
        ("Ascend910_9381", True),
        ("Ascend950PR_9599", True),
        ("Ascend910A", False),
        ("Ascend310P3", False),
        ("Ascend310B1", False),
    ],
)
def test_a_full_name_stands_for_its_kind(name: str, has: bool) -> None:
    """What a product with a full name can do is what its kind can do."""
    assert run_python(BF16, SOFTNPU_SOC=name).stdout == f"{has}\n"


@pytest.mark.parametrize(
    "name",
    [
        "Ascend910B5",
        "Ascend910B1x",
        "910B",
        " Ascend910B",
        "Ascend910_93_",
        "Ascend910B_9589",
        "Ascend950_9589",
        "Ascend950PR_",
        "Ascend950PR_95899",
    ],
)
def test_no_names_of_products(name: str) -> None:
    """What is no product's name is refused, however close it is."""
    program = "from softnpu import _core; print(_core.info()['soc_failure'])"
    assert f'SOFTNPU_SOC is "{name}"; it must be' in run_python(program, SOFTNPU_SOC=name).stdout


@in_fresh_process(SOFTNPU_SOC="Ascend911")
def test_unknown_product(api: Functions) -> None:
    """Without a known product there is no device, and the message lists the names."""
    assert api.aclrtSetDevice(0) == INVALID_PARAM
    assert api.aclInit(None) == INVALID_PARAM
    text = message(api)
    assert "Ascend911" in text
    names = text.replace(",", "").split()
    for name in (*PRODUCTS, "Ascend910B2C", "Ascend910_9391", "Ascend310P3", "Ascend910PremiumA"):
        assert name in names
    assert api.aclrtGetSocName() == b"Ascend910B"


@in_fresh_process(SOFTNPU_DEVICES="3")
def test_device_count(api: Functions) -> None:
    """SOFTNPU_DEVICES is the number of devices."""
    assert api.aclInit(None) == 0
    assert out(ct.c_uint32, api.aclrtGetDeviceCount) == (0, 3)
    assert [api.aclrtSetDevice(device) for device in (0, 1, 2, 3, -1)] == [0, 0, 0, 107001, 107001]


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "2 ", "1025", "99999999999"])
def test_wrong_device_count(text: str) -> None:
    """A SOFTNPU_DEVICES that is no number from 1 to 1024 leaves no device to set."""
    program = """
from tests.support.capi_symbols import functions
api = functions()
print(api.aclrtSetDevice(0), api.aclInit(None), api.aclGetRecentErrMsg().decode())
"""
    done = run_python(program, SOFTNPU_DEVICES=text)
    assert done.stdout.startswith("100000 100000 ")
    assert f'"{text}"' in done.stdout


@in_fresh_process
def test_one_device_by_default(api: Functions) -> None:
    """There is one device unless more are asked for."""
    assert out(ct.c_uint32, api.aclrtGetDeviceCount) == (0, 1)
