# SPDX-License-Identifier: Apache-2.0
"""What observes a program neither stops nor ends it, whatever its stderr and stdin are."""

from __future__ import annotations

import os
import socket
import subprocess
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.observed import FAILURE, ended, some
from tests.support.process import SANITIZED

# A sanitizer reads memory through a pipe, and takes it for wrong where it can have none.
WITHOUT_DESCRIPTORS = pytest.param(
    "no more descriptors", marks=pytest.mark.skipif(SANITIZED, reason="sanitizers need descriptors")
)


def _connected(kind: str) -> tuple[int, int]:
    """What is read from, and what is written to."""
    if kind == "pipe":
        return os.pipe()
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


def _filled(kind: str) -> tuple[int, int]:
    """The same, with no room for another byte."""
    ours, theirs = _connected(kind)
    os.set_blocking(theirs, False)
    for size in (4096, 1):
        with suppress(BlockingIOError):
            while os.write(theirs, b"x" * size):
                pass
    os.set_blocking(theirs, True)
    return ours, theirs


@pytest.mark.parametrize("kind", ["pipe", "socket"])
@pytest.mark.parametrize("settings", [{"SOFTNPU_LOG": "debug"}, {"SOFTNPU_CHECK": "all"}])
@pytest.mark.parametrize("how", ["few calls", WITHOUT_DESCRIPTORS])
def test_stderr_that_nobody_reads(
    observed: Path, kind: str, settings: dict[str, str], how: str
) -> None:
    """The program ends without a reader, and what was there is left alone."""
    ours, theirs = _filled(kind)
    ended(observed, how, {**settings, "SOFTNPU_CHECK_EXITCODE": "0"}, stderr=theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as rest:
        assert set(rest.read()) == {ord("x")}


def test_a_terminal_that_is_stopped(observed: Path) -> None:
    """The program ends without it."""
    ours, theirs = os.openpty()
    termios.tcflow(theirs, termios.TCOOFF)
    ended(observed, "few calls", {"SOFTNPU_LOG": "debug"}, stderr=theirs)
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_stderr_that_is_read_again(observed: Path, kind: str) -> None:
    """Lines arrive again, and the first of them says that some were lost."""
    ours, theirs = _filled(kind)
    environment = {**os.environ, "SOFTNPU_LOG": "error", "SOFTNPU_BANNER": "0"}
    with subprocess.Popen(
        [observed, "twice"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as running:
        os.close(theirs)
        assert running.stdout is not None
        assert running.stdin is not None
        assert running.stdout.read(5) == b"once\n"
        while b"x" in some(ours):
            pass
        running.stdin.close()
        os.set_blocking(ours, True)
        with os.fdopen(ours) as rest:
            text = rest.read()
    assert running.returncode == 0
    assert text.startswith("softnpu: lines were lost here\n" + FAILURE)
    assert text.count(FAILURE) == 5


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_stderr_whose_reader_is_gone(observed: Path, kind: str) -> None:
    """The program is not ended by SIGPIPE."""
    ours, theirs = _connected(kind)
    os.close(ours)
    ended(observed, "few calls", {"SOFTNPU_LOG": "debug", "SOFTNPU_BANNER": "1"}, stderr=theirs)
    os.close(theirs)


def test_a_program_without_stderr(observed: Path) -> None:
    """Nothing lands in the file that gets its number."""
    ended(observed, "files", {"SOFTNPU_LOG": "debug"}, prepare=lambda: os.close(2))
    assert (observed.parent / "own").read_text() == "own"


@pytest.mark.parametrize(
    ("how", "status", "found"),
    [("a key", 86, "leakcheck (leaked-memory)"), ("a fault", 87, "memcheck (host-access)")],
)
def test_a_thread_that_reads_stdin(observed: Path, how: str, status: int, found: str) -> None:
    """The end of a checked program does not wait for it, and what was printed comes out."""
    ours, theirs = os.pipe()
    said = ended(observed, how, {"SOFTNPU_CHECK": "all"}, stdin=ours, status=status)
    assert found in said
    os.close(theirs)
    os.close(ours)
