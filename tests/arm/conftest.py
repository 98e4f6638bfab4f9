# SPDX-License-Identifier: Apache-2.0
"""The libraries, cross-compiled for 64-bit Arm, behind a program under emulation.

Needs aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu), qemu-aarch64 (qemu-user) and CMake with
Ninja. What is missing skips these tests, or fails them where SOFTNPU_REQUIRE_ARM=1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from tests.support.emulated import Machine
from tests.support.operator_list import write_operator_list
from tests.support.paths import ROOT

BUILD = ROOT / "build" / "arm"
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"


def run(*command: str | Path) -> str:
    """Run a step of the build, which must succeed; return what it printed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(autouse=True)
def _numpy_is_quiet() -> Iterator[None]:
    """Keep NumPy from warning about the infinities and NaN that these tests are about."""
    with np.errstate(all="ignore"):
        yield


def require_tools() -> None:
    """Skip, or fail, without what these tests need."""
    missing = [t for t in (COMPILER, EMULATOR, "cmake", "ninja") if shutil.which(t) is None]
    if missing and os.environ.get("SOFTNPU_REQUIRE_ARM") == "1":
        pytest.fail(f"SOFTNPU_REQUIRE_ARM=1, but there is no {', '.join(missing)}")
    if missing:
        pytest.skip(f"64-bit Arm is not tested: there is no {', '.join(missing)}")


@pytest.fixture(scope="session")
def program() -> Path:
    """The libraries and the program that calls them, built; only what changed is built again."""
    require_tools()
    run("cmake", "--preset", "arm")
    run("cmake", "--build", "--preset", "arm")
    libraries, built = BUILD / "sdk" / "lib64", BUILD / "serve"
    command = [COMPILER, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    write_operator_list(BUILD)
    folders = (BUILD, BUILD / "sdk" / "include", BUILD / "sdk" / "include" / "aclnn")
    command += [*(f"-I{folder}" for folder in folders), "tests/arm/serve.cpp", "-o", str(built)]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{libraries}"]
    run(*command, "-lascendcl", "-lnnopbase", "-lopapi", "-pthread")
    return built


@pytest.fixture(scope="session")
def machines(program: Path) -> Iterator[Callable[[int], Machine]]:
    """The emulated machine with a number of threads; started once, and again if it has failed."""
    loader = Path(run(COMPILER, "-print-file-name=ld-linux-aarch64.so.1").strip()).resolve()
    settings = {"QEMU_LD_PREFIX": str(loader.parent.parent), **os.environ, "SOFTNPU_BANNER": "0"}
    started: dict[int, Machine] = {}
    with ExitStack() as stack:

        def machine(threads: int) -> Machine:
            if threads not in started or not started[threads].is_running:
                environment = {**settings, "SOFTNPU_THREADS": str(threads)}
                opened = Machine([EMULATOR, str(program)], environment)
                started[threads] = stack.enter_context(opened)
            return started[threads]

        yield machine


@pytest.fixture
def machine(machines: Callable[[int], Machine]) -> Machine:
    """The emulated machine with two threads."""
    return machines(2)
