# SPDX-License-Identifier: Apache-2.0
"""What the system refuses the command: one line that says so, and a status, but no traceback."""

import os
import signal
import subprocess
from typing import Any

import pytest

HELLO = '#include <cstdio>\nint main() { std::puts("hello"); }\n'
SILENT = '#!/bin/sh\ncase " $* " in *" -E "*) exec c++ "$@" ;; esac\n'


def shell(softnpu: Any, line: str, **variables: str) -> "subprocess.CompletedProcess[bytes]":
    """Runs a line of shell in which "$@" is the command."""
    return subprocess.run(
        ["sh", "-c", line, "sh", *softnpu.command],
        capture_output=True,
        check=False,
        cwd=softnpu.folder,
        env={**softnpu.environment, **variables},
    )


@pytest.mark.parametrize("args", ["info", "sdk", "env", "ops", "ops elu_backward", "--version"])
@pytest.mark.parametrize(
    ("stream", "reason"),
    [(">&-", b"Bad file descriptor"), (">/dev/full", b"No space left on device")],
)
def test_results_that_nobody_gets(softnpu: Any, args: str, stream: str, reason: bytes) -> None:
    """A stdout that is closed or full gives status 1 and the reason."""
    done = shell(softnpu, f'"$@" {args} {stream}')
    expected = b"softnpu: cannot write the results: " + reason + b"\n"
    assert (done.returncode, done.stderr) == (1, expected)


def test_closed_streams_are_the_programs_own_matter(softnpu: Any) -> None:
    """A program runs with its stdout closed, and an error has its status without a stderr."""
    softnpu.write("hello.cpp", HELLO)
    assert shell(softnpu, '"$@" run hello.cpp >&-').returncode == 0
    done = shell(softnpu, '"$@" run hello.cpp 2>&-')
    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert shell(softnpu, '"$@" run missing.cpp 2>&-').returncode == 2
    assert shell(softnpu, '"$@" run missing.cpp 2>/dev/full').returncode != 0


def test_names_keep_their_bytes(softnpu: Any) -> None:
    """A path that is no text in stdout's encoding comes out as the path that it is."""
    folder = os.fsdecode(b"/nowhere/\xff")
    done = shell(softnpu, '"$@" info', XDG_CACHE_HOME=folder, PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"/nowhere/\xff/softnpu/programs\n" in done.stdout
    folder = os.fsdecode(b"/nowhere/\xff\xc3\xa9")
    done = shell(softnpu, '"$@" info', XDG_CACHE_HOME=folder, PYTHONIOENCODING="ascii")
    assert b"/nowhere/\xff\\xe9/softnpu/programs\n" in done.stdout


@pytest.mark.parametrize("args", [["run", "hello.cpp"], ["build", "hello.cpp", "-o", "hello"]])
def test_compiler_that_cannot_be_started(softnpu: Any, args: list[str]) -> None:
    """It is as good as none: 127."""
    softnpu.write("hello.cpp", HELLO)
    compiler = softnpu.write("no-program", "no program", executable=True)
    done = softnpu(*args, env={"CXX": str(compiler)})
    message = f"softnpu: cannot run the compiler {compiler}: Exec format error\n"
    assert (done.returncode, done.stderr) == (127, message)


def test_compiler_that_writes_nothing(softnpu: Any) -> None:
    """Without a program there is nothing to run, whatever the compiler's status."""
    softnpu.write("hello.cpp", HELLO)
    compiler = softnpu.write("silent", SILENT, executable=True)
    done = softnpu("run", "hello.cpp", env={"CXX": str(compiler)})
    assert (done.returncode, done.stderr) == (
        1,
        f"softnpu: the compiler {compiler} wrote no program\n",
    )


@pytest.mark.parametrize("args", [["run"], ["build", "-o", "out"]])
def test_name_that_is_too_long(softnpu: Any, args: list[str]) -> None:
    """It is no file that can be read."""
    done = softnpu(*args, f"{'a' * 300}.cpp")
    assert done.returncode == 2
    assert done.stderr.endswith("aaa.cpp: File name too long\n")


def test_cache_folder_that_cannot_be_looked_into(softnpu: Any) -> None:
    """It is named, with the way out, like one that cannot be written."""
    softnpu.write("hello.cpp", HELLO)
    done = softnpu("run", "hello.cpp", env={"XDG_CACHE_HOME": f"/{'a' * 300}"})
    assert done.returncode == 1
    assert done.stderr.startswith("softnpu: cannot write the cache folder /aaa")
    assert "File name too long" in done.stderr
    assert "XDG_CACHE_HOME" in done.stderr.splitlines()[1]


def test_somebody_without_a_home(softnpu: Any) -> None:
    """`info` shows that there is no cache folder, `run` asks for one, and XDG_CACHE_HOME is one."""
    softnpu.write("hello.cpp", HELLO)
    # Only the system's list of users makes somebody who has none; this says what it would.
    code = """import pathlib, sys
def home(cls): raise RuntimeError("Could not determine home directory.")
pathlib.Path.home = classmethod(home)
from softnpu.cli import main
main()
"""
    softnpu.command = [softnpu.command[0], "-c", code]
    nowhere = {"XDG_CACHE_HOME": ""}
    assert "nowhere  (no home folder" in softnpu("info", env=nowhere).stdout
    done = softnpu("run", "hello.cpp", env=nowhere)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("softnpu: there is no home folder")
    assert "XDG_CACHE_HOME" in done.stderr.splitlines()[1]
    assert softnpu("run", "hello.cpp").stdout == "hello\n"


@pytest.mark.parametrize("args", ["ops elu_backward", "ops", "info"])
def test_a_reader_that_ends_early(softnpu: Any, args: str) -> None:
    """Where nobody reads on, the command ends as other tools do: by SIGPIPE, without a word."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*softnpu.command, *args.split()],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        cwd=softnpu.folder,
        env=softnpu.environment,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")
