# SPDX-License-Identifier: Apache-2.0
"""Builds that find the SDK as a package: CMake's find_package, and pkg-config."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from softnpu import __version__
from softnpu.cli.elf import read_elf
from tests.capi.test_programs import find_cmake
from tests.support.documents import blocks
from tests.support.paths import ROOT, headers

PRINTED = "-0.8647\n-0.6321\n0.0000\n1.0000\n"
OPERATOR_LIBRARIES = (
    "opapi",
    "opapi_nn",
    "opapi_cv",
    "opapi_math",
    "aclnn_math",
    "aclnn_ops_infer",
    "aclnn_ops_train",
)
RUNTIME_LIBRARIES = ("ascendcl", "acl_rt", "acl_op_compiler", "runtime", "msprofiler")
LIBRARIES = (*RUNTIME_LIBRARIES, "nnopbase", "hccl", *OPERATOR_LIBRARIES)

needs_cmake = pytest.mark.skipif(find_cmake() is None, reason="needs cmake")
needs_pkg_config = pytest.mark.skipif(shutil.which("pkg-config") is None, reason="needs pkg-config")


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Runs a command without variables of a toolkit; gives what it printed."""
    ours = ("ASCEND_", "LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "CXXFLAGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, cwd=cwd, env={**kept, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example project."""
    return Path(shutil.copytree(ROOT / "examples" / "cmake", tmp_path / "example"))


@pytest.fixture(params=["installed", "moved"])
def package(request: pytest.FixtureRequest, sdk: Path, tmp_path: Path) -> Path:
    """The SDK where it is installed, and in another folder."""
    if request.param == "installed":
        return sdk
    return Path(shutil.copytree(sdk, tmp_path / "another place", symlinks=True))


@needs_cmake
@pytest.mark.parametrize("variable", ["softnpu_DIR", "CMAKE_PREFIX_PATH", "softnpu_ROOT"])
def test_example_by_cmake(package: Path, example: Path, variable: str) -> None:
    """find_package finds softnpu by three variables; the program runs, built and installed."""
    inside = "share/cmake/softnpu" if variable == "softnpu_DIR" else ""
    cmake = find_cmake()
    folder = f"-D{variable}={package / inside}"
    run(cmake, "-B", "build", folder, "-DCMAKE_INSTALL_PREFIX=installed", cwd=example)
    run(cmake, "--build", "build", cwd=example)
    assert run("build/elu", cwd=example, SOFTNPU_BANNER="0") == PRINTED
    run(cmake, "--install", "build", cwd=example)
    assert run("installed/bin/elu", cwd=example) == PRINTED


TARGETS = """cmake_minimum_required(VERSION 3.16)
project(targets CXX)
find_package(softnpu {version} EXACT REQUIRED)
find_package(softnpu REQUIRED)
foreach(name {names})
  add_executable(with_${{name}} elu.cpp)
  target_link_libraries(with_${{name}} PRIVATE softnpu::${{name}})
endforeach()
"""


@needs_cmake
def test_each_target(sdk: Path, example: Path) -> None:
    """Each operator library's target brings what it needs, when it is found twice, too."""
    text = TARGETS.format(version=__version__, names=" ".join(OPERATOR_LIBRARIES))
    (example / "CMakeLists.txt").write_text(text)
    run(find_cmake(), "-B", "build", f"-DCMAKE_PREFIX_PATH={sdk}", cwd=example)
    run(find_cmake(), "--build", "build", "-j2", cwd=example)
    for name in OPERATOR_LIBRARIES:
        assert run(f"build/with_{name}", cwd=example) == PRINTED, name


@needs_pkg_config
def test_example_by_pkg_config(sdk: Path, example: Path) -> None:
    """The flags of pkg-config build a program that runs by itself."""
    folder = str(sdk / "lib64" / "pkgconfig")
    version = run("pkg-config", "--modversion", "softnpu", cwd=example, PKG_CONFIG_PATH=folder)
    assert version == f"{__version__}\n"
    if shutil.which("make") is None:
        pytest.skip("needs make")
    run("make", cwd=example, PKG_CONFIG_PATH=folder)
    assert run("./elu", cwd=example) == PRINTED


def test_operator_libraries_are_alike(sdk: Path) -> None:
    """Each name that an operator library has had stands for the same entry points."""
    found = {name: read_elf(sdk / "lib64" / f"lib{name}.so") for name in OPERATOR_LIBRARIES}
    entries = {
        name: {symbol for symbol in elf.defined if symbol.startswith("aclnn")} if elf else set()
        for name, elf in found.items()
    }
    assert {"aclnnElu", "aclnnMaxUnpool3dBackwardGetWorkspaceSize"} <= entries["opapi"]
    for name in OPERATOR_LIBRARIES:
        assert entries[name] == entries["opapi"], name


def test_runtime_libraries_are_alike(sdk: Path) -> None:
    """Each name that a runtime library has had stands for the same entry points."""
    found = {name: read_elf(sdk / "lib64" / f"lib{name}.so") for name in RUNTIME_LIBRARIES}
    entries = {
        name: {symbol for symbol in elf.defined if symbol.startswith("acl")} if elf else set()
        for name, elf in found.items()
    }
    assert {"aclInit", "aclrtMalloc", "aclopCompileAndExecute"} <= entries["ascendcl"]
    for name in RUNTIME_LIBRARIES:
        assert entries[name] == entries["ascendcl"], name


@pytest.mark.parametrize("library", ["softnpu", *LIBRARIES])
def test_libraries_keep_function_names(sdk: Path, library: str) -> None:
    """Debuggers find the names of all functions in a table that strip would remove."""
    data = (sdk / "lib64" / f"lib{library}.so").read_bytes()
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<2H", data, 58)
    symbol_table = 2
    kinds = [struct.unpack_from("<4xI", data, start + size * i)[0] for i in range(count)]
    assert symbol_table in kinds


def test_the_page_lists_what_exists() -> None:
    """docs/building.md has each header and each library, and no others."""
    text = (ROOT / "docs" / "building.md").read_text("utf-8")
    (tree,) = blocks("docs/building.md", "text")
    listed = [word for word in tree.text.split() if word.endswith(".h")]
    assert sorted(listed) == sorted(name for name in headers() if name != "aclnnop/aclnn_abs.h")
    for library in LIBRARIES:
        assert f"`lib{library}.so`" in text, library
