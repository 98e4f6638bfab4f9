# SPDX-License-Identifier: Apache-2.0
"""What observes a program neither stops nor ends it, wherever its output goes."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import socket
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.native import INTERNAL, compiled, run

VARIABLES = ["SOFTNPU_LOG_FILE", "SOFTNPU_STATS", "SOFTNPU_TRACE", "SOFTNPU_CHECK_REPORT"]
FAILURE = "softnpu: error 107000: aclrtFree: devPtr "


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that is observed."""
    return compiled("observed", tmp_path_factory.mktemp("observed"))


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@contextmanager
def reading(pipe: Path) -> Iterator[int]:
    """Open a named pipe, without waiting for who writes."""
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    yield descriptor
    os.close(descriptor)


def ended(
    program: Path,
    how: str,
    settings: dict[str, str],
    stderr: int = subprocess.PIPE,
    stdin: int = subprocess.DEVNULL,
    prepare: Callable[[], None] | None = None,
    status: int = 0,
) -> str:
    """Run the program to its end, which it must reach by itself; give its stderr."""
    done = subprocess.run(
        [program, how],
        env={**os.environ, "SOFTNPU_BANNER": "0", **settings},
        cwd=program.parent,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        preexec_fn=prepare,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (status, "done"), done.stderr
    return done.stderr or ""


def settings_of(variable: str, file: Path) -> dict[str, str]:
    """What makes it write to a file."""
    check = {"SOFTNPU_CHECK": "all"} if variable == "SOFTNPU_CHECK_REPORT" else {}
    return {variable: str(file), "SOFTNPU_CHECK_EXITCODE": "0", **check}


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_pipe_without_a_reader(program: Path, pipe: Path, variable: str) -> None:
    """It is told that the setting cannot be followed."""
    said = ended(program, "few calls", settings_of(variable, pipe))
    assert said.startswith(f'softnpu: {variable} is "{pipe}", which cannot be followed')


def test_a_pipe_with_a_reader(program: Path, pipe: Path) -> None:
    """It gets all lines, and sees no end between them."""
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as cat:
        with pipe.open("w"):  # until both have opened it
            assert ended(program, "few calls", {"SOFTNPU_LOG_FILE": str(pipe)}) == ""
        assert cat.communicate()[0].count(FAILURE) == 5


def test_a_reader_that_does_not_read(program: Path, pipe: Path) -> None:
    """What it does not read is lost, which is told once."""
    with reading(pipe):
        said = ended(program, "many calls", {"SOFTNPU_LOG_FILE": str(pipe)})
    assert said == "softnpu: SOFTNPU_LOG_FILE: lines are lost: their reader does not read\n"


def test_a_reader_that_goes_away(program: Path, pipe: Path) -> None:
    """The program is not ended by SIGPIPE."""
    with reading(pipe) as descriptor:
        environment = {**os.environ, "SOFTNPU_LOG_FILE": str(pipe), "SOFTNPU_BANNER": "0"}
        command = [str(program), "many calls"]
        running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        while FAILURE.encode() not in (got := _some(descriptor)):
            assert running.poll() is None or got
    said = running.communicate()[1]
    assert running.returncode == 0
    assert said == "softnpu: SOFTNPU_LOG_FILE: lines are lost: nobody reads them\n"


def _some(descriptor: int) -> bytes:
    """What is there to be read."""
    os.set_blocking(descriptor, False)
    try:
        return os.read(descriptor, 4096)
    except BlockingIOError:
        return b""


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
@pytest.mark.parametrize("how", ["few calls", "no more descriptors"])
def test_stderr_that_nobody_reads(
    program: Path, kind: str, settings: dict[str, str], how: str
) -> None:
    """The program ends without a reader, and what was there is left alone."""
    ours, theirs = _filled(kind)
    ended(program, how, {**settings, "SOFTNPU_CHECK_EXITCODE": "0"}, stderr=theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as rest:
        assert set(rest.read()) == {ord("x")}


def test_a_terminal_that_is_stopped(program: Path) -> None:
    """The program ends without it."""
    ours, theirs = os.openpty()
    termios.tcflow(theirs, termios.TCOOFF)
    ended(program, "few calls", {"SOFTNPU_LOG": "debug"}, stderr=theirs)
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_stderr_that_is_read_again(program: Path, kind: str) -> None:
    """Lines arrive again, and the first of them says that some were lost."""
    ours, theirs = _filled(kind)
    environment = {**os.environ, "SOFTNPU_LOG": "error", "SOFTNPU_BANNER": "0"}
    with subprocess.Popen(
        [program, "twice"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as running:
        os.close(theirs)
        assert running.stdout is not None
        assert running.stdin is not None
        assert running.stdout.read(5) == b"once\n"
        while b"x" in _some(ours):
            pass
        running.stdin.close()
        os.set_blocking(ours, True)
        with os.fdopen(ours) as rest:
            text = rest.read()
    assert running.returncode == 0
    assert text.startswith("softnpu: lines were lost here\n" + FAILURE)
    assert text.count(FAILURE) == 5


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_stderr_whose_reader_is_gone(program: Path, kind: str) -> None:
    """The program is not ended by SIGPIPE."""
    ours, theirs = _connected(kind)
    os.close(ours)
    ended(program, "few calls", {"SOFTNPU_LOG": "debug", "SOFTNPU_BANNER": "1"}, stderr=theirs)
    os.close(theirs)


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("limit", [20, 150])
def test_a_limit_of_the_size_of_files(
    program: Path, tmp_path: Path, variable: str, limit: int
) -> None:
    """What has room is there, and whole; the rest is told of, and nothing ends the program."""
    file = tmp_path / "file"
    said = ended(
        program,
        "few calls",
        settings_of(variable, file),
        prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    text = file.read_text()
    if variable == "SOFTNPU_TRACE":
        assert not text or json.loads(text)
    else:
        assert not text or text.endswith("\n")
    lost = "memcheck (" if variable == "SOFTNPU_CHECK_REPORT" else f"softnpu: {variable}: "
    assert said.count(lost) == 1


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_full_disk(program: Path, variable: str) -> None:
    """What cannot be written is told of, once; findings are printed."""
    said = ended(program, "few calls", settings_of(variable, Path("/dev/full")))
    if variable == "SOFTNPU_CHECK_REPORT":
        assert "softnpu: memcheck (foreign-free): aclrtFree" in said
    else:
        assert said.startswith(f"softnpu: {variable}: ")
        assert said.endswith("No space left on device\n")
        assert said.count("\n") == 1


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_folder(program: Path, tmp_path: Path, variable: str) -> None:
    """It is told that the setting cannot be followed."""
    said = ended(program, "few calls", settings_of(variable, tmp_path))
    assert said.startswith(f'softnpu: {variable} is "{tmp_path}", which cannot be followed')


def test_a_trace_that_stays_locked(program: Path, tmp_path: Path) -> None:
    """Events are lost, which is told, when another process holds the lock for long."""
    file = tmp_path / "trace"
    ended(program, "few calls", {"SOFTNPU_TRACE": str(file)})
    before = file.read_text()
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = ended(program, "few calls", {"SOFTNPU_TRACE": str(file)})
    assert "SOFTNPU_TRACE is " in said
    assert file.read_text() == before


def test_a_program_that_closes_all_descriptors(program: Path, tmp_path: Path) -> None:
    """Nothing lands in files that it opens then."""
    files = {name: tmp_path / name for name in ("LOG_FILE", "STATS", "TRACE")}
    settings = {f"SOFTNPU_{name}": str(file) for name, file in files.items()}
    assert ended(program, "no descriptors", settings) == ""
    assert (program.parent / "own").read_text() == ""
    assert files["LOG_FILE"].read_text().count(FAILURE) == 10
    (row,) = json.loads(files["STATS"].read_text())["rows"]
    assert row["count"] == 10
    names = [event["name"] for event in json.loads(files["TRACE"].read_text())]
    assert names.count("aclrtFree") == 11


def test_signals_and_descriptors_of_the_program(tmp_path: Path) -> None:
    """Writing causes no signals, lets no handler run, and takes no number that is reused."""
    (tmp_path / "file").touch()
    done = run(compiled("surroundings", tmp_path, INTERNAL), str(tmp_path / "file"))
    assert done.returncode == 0, done.stderr


def test_a_program_without_stderr(program: Path) -> None:
    """Nothing lands in the file that gets its number."""
    ended(program, "files", {"SOFTNPU_LOG": "debug"}, prepare=lambda: os.close(2))
    assert (program.parent / "own").read_text() == "own"


@pytest.mark.parametrize(
    ("how", "status", "found"),
    [("a key", 86, "leakcheck (leaked-memory)"), ("a fault", 87, "memcheck (host-access)")],
)
def test_a_thread_that_reads_stdin(program: Path, how: str, status: int, found: str) -> None:
    """The end of a checked program does not wait for it, and what was printed comes out."""
    ours, theirs = os.pipe()
    said = ended(program, how, {"SOFTNPU_CHECK": "all"}, stdin=ours, status=status)
    assert found in said
    os.close(theirs)
    os.close(ours)
