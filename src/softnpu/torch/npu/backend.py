# SPDX-License-Identifier: Apache-2.0
"""The part of the device that is C++: compiled for the PyTorch that is installed, and loaded."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

SOURCES = Path(__file__).parent / "native"
_NAME = "softnpu_device.so"


class BackendError(ImportError):
    """The device `npu` cannot be had; the message says why."""


def load() -> None:
    """Load the backend into this process. It is compiled where that was not done before."""
    import typer

    from softnpu.cli.cache import kept

    try:
        command = _command()
        with kept(_key(command), _NAME, lambda file: _compile(command, file)) as made:
            torch.ops.load_library(str(made.file))
    except typer.Exit:  # what is wrong was printed
        raise BackendError(
            "the device npu is not there: its C++ part cannot be compiled, see above"
        ) from None


def _command() -> list[str]:
    from softnpu.cli.environment import sdk_prefix
    from softnpu.cli.toolchain import CXX, find_compiler

    headers = Path(torch.__file__).parent / "include"
    libraries = Path(torch.__file__).parent / "lib"
    sdk = sdk_prefix()
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return [
        *find_compiler(CXX),
        *("-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w"),
        *("-isystem", str(headers), "-isystem", str(headers / "torch/csrc/api/include")),
        f"-I{sdk / 'include'}",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        str(SOURCES / "backend.cpp"),
        *(f"-L{libraries}", "-ltorch_cpu", "-lc10"),
        *(f"-L{sdk / 'lib64'}", "-lascendcl", "-lsoftnpu"),
        *("-Xlinker", "-rpath", "-Xlinker", str(sdk / "lib64")),
    ]


def _key(command: list[str]) -> str:
    from softnpu import __version__
    from softnpu.cli.toolchain import Toolchain

    versions = [__version__, torch.__version__, torch.version.git_version]
    compiler = Toolchain(tuple(command[:1]), (), ()).identity()
    text = hashlib.sha256(json.dumps([versions, command, compiler]).encode())
    for file in sorted(SOURCES.iterdir()):
        text.update(file.read_bytes())
    return text.hexdigest()


def _compile(command: list[str], file: Path) -> None:
    import typer

    from softnpu.cli.cache import programs_folder

    programs = programs_folder()
    made = programs / _key(command) / _NAME
    is_cached = file.parent.parent == programs  # else others could have put something there
    with _alone(programs / ".npu.lock"):
        if is_cached and made.is_file():  # another process has made it meanwhile
            shutil.copy(made, file)
            return
        message = f"softnpu: compiling the device npu for PyTorch {torch.__version__}, once: "
        print(message, end="", file=sys.stderr, flush=True)
        start = time.monotonic()
        done = subprocess.run([*command, "-o", str(file)], capture_output=True, text=True)
        print(f"{time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        raise typer.Exit(done.returncode)
    file.chmod(0o700)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Let no other process compile at the same time."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:  # the cache is not used
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
