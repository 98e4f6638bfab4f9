# SPDX-License-Identifier: Apache-2.0
"""Descriptions of tensors, data buffers, compile options, and functions that are not supported."""

from __future__ import annotations

import ctypes as ct
from typing import Any

import pytest

from tests.capi.capi_names import FUNCTIONS
from tests.support.acl_runtime import INVALID_PARAM, NOT_A_HANDLE, Runtime, out, run_python
from tests.support.capi_symbols import RUNTIME, prototypes

API_NOT_SUPPORT = 200001
FLOAT16, ND, UNDEFINED = 1, 2, -1


def described(rt: Runtime, *sizes: int, dtype: int = FLOAT16) -> int:
    """A description, destroyed with the session."""
    dims = (ct.c_int64 * len(sizes))(*sizes)
    desc = rt.api.aclCreateTensorDesc(dtype, len(sizes), dims, ND)
    rt.keep("aclDestroyTensorDesc", desc)
    return int(desc)


def test_a_description(rt: Runtime) -> None:
    """Type, format, dimensions, elements, bytes and name."""
    api, desc = rt.api, described(rt, 2, 3, 4)
    assert (api.aclGetTensorDescType(desc), api.aclGetTensorDescFormat(desc)) == (FLOAT16, ND)
    assert (api.aclGetTensorDescElementCount(desc), api.aclGetTensorDescSize(desc)) == (24, 48)
    assert api.aclGetTensorDescNumDims(desc) == 3
    assert [api.aclGetTensorDescDim(desc, i) for i in range(4)] == [2, 3, 4, -1]
    assert out(ct.c_int64, api.aclGetTensorDescDimV2, desc, 2) == (0, 4)
    assert out(ct.c_int64, api.aclGetTensorDescDimV2, desc, 3) == (INVALID_PARAM, 0)
    assert "index is 3; it must be below the number of dimensions, which is 3" in rt.message()
    assert api.aclGetTensorDescName(desc) == b""
    api.aclSetTensorDescName(desc, b"weight")
    storage = (ct.c_int64 * 2)(4, 6)
    rt.check(api.aclSetTensorFormat(desc, 29))
    rt.check(api.aclSetTensorShape(desc, 2, storage))
    rt.check(api.aclSetTensorPlaceMent(desc, 1))
    rt.check(api.aclSetTensorConst(desc, storage, 16))
    assert api.aclGetTensorDescName(desc) == b"weight"
    assert api.aclGetTensorDescNumDims(desc) == 3


def test_descriptions_at_the_edges(rt: Runtime) -> None:
    """No dimensions, unknown ones, products beyond 64 bits."""
    api = rt.api
    assert api.aclGetTensorDescElementCount(described(rt)) == 1
    assert api.aclGetTensorDescSize(described(rt, 2, -1)) == 0
    assert api.aclGetTensorDescElementCount(described(rt, 1 << 40, 1 << 40)) == 0
    assert api.aclGetTensorDescSize(described(rt, 8, dtype=36)) == 8
    assert api.aclCreateTensorDesc(FLOAT16, -1, None, ND) is None
    assert "numDims is -1" in rt.message()
    assert api.aclCreateTensorDesc(FLOAT16, 1, None, ND) is None
    assert "dims is null" in rt.message()


def test_misuse_of_descriptions(rt: Runtime) -> None:
    """Dead handles give a message, and what stands for nothing."""
    api, desc = rt.api, described(rt, 2)
    assert api.aclSetTensorPlaceMent(desc, 3) == INVALID_PARAM
    assert api.aclSetTensorConst(desc, None, 1) == INVALID_PARAM
    assert api.aclSetTensorShape(desc, -1, None) == INVALID_PARAM
    assert api.aclGetTensorDescDimV2(desc, 0, None) == INVALID_PARAM
    for handle, what in ((None, "a null pointer"), (NOT_A_HANDLE, "not a handle of softnpu")):
        assert api.aclGetTensorDescType(handle) == UNDEFINED
        assert rt.message() == (
            f"aclGetTensorDescType: desc is {what}; expected a live aclTensorDesc"
        )
        assert api.aclGetTensorDescName(handle) is None
        assert api.aclSetTensorFormat(handle, ND) == INVALID_PARAM
        assert api.aclGetDataBufferAddr(handle) is None
        assert api.aclDestroyDataBuffer(handle) == INVALID_PARAM
    buffer = api.aclCreateDataBuffer(0, 0)
    rt.keep("aclDestroyDataBuffer", buffer)
    assert api.aclGetTensorDescSize(buffer) == 0
    assert "desc is an aclDataBuffer" in rt.message()


def test_data_buffers(rt: Runtime) -> None:
    """An address and a size, which can be changed."""
    api = rt.api
    buffer = api.aclCreateDataBuffer(0x1000, 1 << 33)
    assert api.aclGetDataBufferAddr(buffer) == 0x1000
    assert api.aclGetDataBufferSizeV2(buffer) == 1 << 33
    rt.check(api.aclUpdateDataBuffer(buffer, 0x2000, 12))
    assert (api.aclGetDataBufferAddr(buffer), api.aclGetDataBufferSize(buffer)) == (0x2000, 12)
    rt.check(api.aclDestroyDataBuffer(buffer))
    assert api.aclDestroyDataBuffer(buffer) == INVALID_PARAM
    assert "dataBuffer is a destroyed aclDataBuffer" in rt.message()
    assert api.aclUpdateDataBuffer(buffer, 0, 0) == INVALID_PARAM


def test_compile_options(rt: Runtime) -> None:
    """They are kept, and have no effect."""
    api, jit = rt.api, 10
    assert api.aclGetCompileoptSize(jit) == 0
    rt.check(api.aclSetCompileopt(jit, b"enable"))
    assert api.aclGetCompileoptSize(jit) == 7
    value = ct.create_string_buffer(7)
    rt.check(api.aclGetCompileopt(jit, value, 7))
    assert value.value == b"enable"
    assert api.aclGetCompileopt(jit, value, 6) == INVALID_PARAM
    assert api.aclGetCompileopt(jit, None, 7) == INVALID_PARAM
    assert api.aclSetCompileopt(17, b"x") == INVALID_PARAM
    assert api.aclSetCompileopt(jit, None) == INVALID_PARAM
    rt.check(api.aclopSetCompileFlag(1))
    assert api.aclopSetCompileFlag(2) == INVALID_PARAM


def not_supported() -> list[str]:
    """Functions of compiled operators, models and the profiler."""
    accepted = {"aclopSetModelDir", "aclopSetCompileFlag"}
    families = ("aclop", "aclmdl", "aclprof")
    return [
        name
        for name in FUNCTIONS
        if name.startswith(families) and not name.startswith("aclmdlRI") and name not in accepted
    ]


@pytest.mark.parametrize("name", not_supported())
def test_what_is_not_supported_says_so(rt: Runtime, name: str) -> None:
    """200001, or what stands for nothing, and a message that begins with the function."""
    result, letters = prototypes(RUNTIME)[name]
    given: list[Any] = [None if letter in "ps" else 0 for letter in letters]
    got = getattr(rt.api, name)(*given)
    if name.endswith(("DataType", "Format")) and "Set" not in name:
        assert got == UNDEFINED
    else:
        assert got == {"i": API_NOT_SUPPORT, "z": 0, "p": None, "s": None, "v": None}[result]
    assert rt.message().startswith(f"{name}: softnpu ")


@pytest.mark.parametrize(
    ("level", "shown"), [("error", "we"), ("info", "iwe"), ("debug", "diwe"), ("off", "")]
)
def test_messages_of_the_program(level: str, shown: str) -> None:
    """They go to the log, from its level on (aclAppLog)."""
    program = (
        "from tests.support.capi_symbols import functions\n"
        "for level, text in enumerate((b'd', b'i', b'w', b'e')):\n"
        "    functions().aclAppLog(level, b'f', b'f.cpp', 7, text)\n"
    )
    done = run_python(program, SOFTNPU_LOG=level)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "f (f.cpp:7): " in line]
    assert "".join(line[-1] for line in lines) == shown
    assert all(line.startswith("softnpu: ") for line in lines)


def test_versions(rt: Runtime) -> None:
    """Any package has the version of the toolkit whose interface this is."""
    text = ct.create_string_buffer(128)
    for package in (b"runtime", b"CANN"):
        rt.check(rt.api.aclsysGetVersionStr(package, text))
        assert text.value == b"8.5.0"
        assert out(ct.c_int32, rt.api.aclsysGetVersionNum, package) == (0, 80500000)
    assert rt.api.aclsysGetVersionStr(None, text) == INVALID_PARAM
    assert rt.api.aclsysGetVersionStr(b"runtime", None) == INVALID_PARAM
    assert rt.api.aclsysGetVersionNum(b"runtime", None) == INVALID_PARAM
    assert "versionNum is null" in rt.message()
