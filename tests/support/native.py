# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the C++ programs of the runtime's tests."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.capi_symbols import library_folder
from tests.support.paths import ROOT

SOURCES = ROOT / "tests" / "runtime"

WITHOUT_OPERATORS = ["-std=c++17", "-lascendcl", "-lnnopbase"]
PUBLIC = [*WITHOUT_OPERATORS, "-lopapi"]
INTERNAL = ["-std=c++20", f"-I{ROOT / 'core'}", "-lsoftnpu"]


def compiled(name: str, folder: Path, options: list[str] = PUBLIC) -> Path:
    """Compile a program without a warning; the name is seen from tests/runtime."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    libraries = library_folder().resolve()
    program = folder / Path(name).name
    command = [compiler, "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command += [
        f"-I{libraries.parent / 'include'}",
        str(SOURCES / f"{name}.cpp"),
        "-o",
        str(program),
    ]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{libraries}"]
    command += [*options, "-pthread"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return program


def run(program: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program, with variables added to the environment."""
    return subprocess.run(
        [program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
