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
    run_python,
)
from tests.support.capi_symbols import Functions
from tests.support.paths import ROOT

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


PAGE = (ROOT / "docs" / "products.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| Ascend")
]


def test_every_product_is_in_the_table() -> None:
    """The message about a wrong name lists those that there are."""
    program = (
        "from tests.support.capi_symbols import functions\n"
        "api = functions()\n"
        "assert api.aclInit(None) == 100000\n"
        "print(api.aclGetRecentErrMsg().decode())\n"
    )
    done = run_python(program, SOFTNPU_SOC="nothing")
    assert done.returncode == 0, done.stderr
    listed = done.stdout.split("one of ")[1].split(", or a full name")[0].split(", ")
    assert listed == [row[0] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_table_of_products(row: list[str]) -> None:
    """What a program is told is what the page says; no device has more memory than the machine."""
    program = (
        "from os import sysconf\n"
        "from softnpu import _core\n"
        "from tests.runtime.test_device_info import all_values\n"
        "from tests.support.capi_symbols import functions\n"
        "print(functions().aclrtGetSocName().decode(), *all_values(functions()))\n"
        "print(_core.info()['device_memory'])\n"
        "print(sysconf('SC_PHYS_PAGES') * sysconf('SC_PAGE_SIZE'))\n"
    )
    done = run_python(program, SOFTNPU_SOC=row[0].lower(), SOFTNPU_THREADS="3")
    assert done.returncode == 0, done.stderr
    name, *cores, cache, memory, machine = done.stdout.split()
    assert name == row[0]
    assert name.startswith(row[1])
    assert cores == ["3" if cell == "host" else cell for cell in row[3:5]]
    if row[5] != "host":
        assert int(cache) == int(row[5].removesuffix(" MiB")) << 20
    products = int(row[6].removesuffix(" GiB")) << 30
    assert int(memory) == products or (products > int(memory) and int(memory) <= int(machine))


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
