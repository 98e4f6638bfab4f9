# SPDX-License-Identifier: Apache-2.0
"""Compiles the C++ programs of the tests, once as long as nothing changes, and runs them."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.support.capi_symbols import library_folder
from tests.support.paths import ROOT

SOURCES = ROOT / "tests" / "runtime"
PROGRAMS = ROOT / "build" / "programs"

WITHOUT_OPERATORS = ["-std=c++17", "-lascendcl", "-lnnopbase"]
PUBLIC = [*WITHOUT_OPERATORS, "-lopapi"]
INTERNAL = ["-std=c++20", f"-I{ROOT / 'core'}", "-lsoftnpu"]


def built_once(
    name: str, how: object, sources: Iterable[Path], build: Callable[[Path], None]
) -> Path:
    """Have a program built, unless an earlier run has built it from the same sources, likewise.

    Workers share it, so that nobody may write beside it.
    """
    key = hashlib.sha256(repr(how).encode())
    for source in sorted(sources):
        key.update(source.read_bytes())
    folder = PROGRAMS / key.hexdigest()[:20]
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            build(program.with_suffix(".new"))
            program.with_suffix(".new").rename(program)
    return program


def compiled(name: str, options: list[str] = PUBLIC) -> Path:
    """Compile a program without a warning; the name is seen from tests/runtime."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    libraries = library_folder().resolve()
    include = libraries.parent / "include"
    command = [compiler, "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{include}"]
    command += [str(SOURCES / f"{name}.cpp"), f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    command += [f"-Wl,-rpath-link,{libraries}", *options, "-pthread"]

    def build(program: Path) -> None:
        done = subprocess.run(
            [*command, "-o", program], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    own = [SOURCES / f"{name}.cpp", *SOURCES.glob("*.h"), *include.rglob("*.h")]
    core = (ROOT / "core").rglob("*.h") if options is INTERNAL else ()
    return built_once(Path(name).name, command, [*own, *core], build)


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
