# SPDX-License-Identifier: Apache-2.0
"""What observes a program neither stops nor ends it, wherever its output goes; statistics."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.native import INTERNAL, PUBLIC, compiled, run
from tests.support.observed import FAILURE, ended, some

VARIABLES = ["SOFTNPU_LOG_FILE", "SOFTNPU_STATS", "SOFTNPU_TRACE", "SOFTNPU_CHECK_REPORT"]


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


def settings_of(variable: str, file: Path) -> dict[str, str]:
    """What makes it write to a file."""
    check = {"SOFTNPU_CHECK": "all"} if variable == "SOFTNPU_CHECK_REPORT" else {}
    return {variable: str(file), "SOFTNPU_CHECK_EXITCODE": "0", **check}


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_pipe_without_a_reader(observed: Path, pipe: Path, variable: str) -> None:
    """It is told that the setting is an invalid value."""
    said = ended(observed, "few calls", settings_of(variable, pipe))
    assert said.startswith(f'softnpu: {variable} is "{pipe}", an invalid value')


def test_a_pipe_with_a_reader(observed: Path, pipe: Path) -> None:
    """It gets all lines, and sees no end between them."""
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as cat:
        with pipe.open("w"):  # until both have opened it
            assert ended(observed, "few calls", {"SOFTNPU_LOG_FILE": str(pipe)}) == ""
        assert cat.communicate()[0].count(FAILURE) == 5


def test_a_reader_that_does_not_read(observed: Path, pipe: Path) -> None:
    """What it does not read is lost, which is told once."""
    with reading(pipe):
        said = ended(observed, "many calls", {"SOFTNPU_LOG_FILE": str(pipe)})
    assert said == "softnpu: SOFTNPU_LOG_FILE: lines are lost: their reader does not read\n"


def test_a_reader_that_goes_away(observed: Path, pipe: Path) -> None:
    """The program is not ended by SIGPIPE."""
    with reading(pipe) as descriptor:
        environment = {**os.environ, "SOFTNPU_LOG_FILE": str(pipe), "SOFTNPU_BANNER": "0"}
        command = [str(observed), "many calls"]
        running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        while FAILURE.encode() not in (got := some(descriptor)):
            assert running.poll() is None or got
    said = running.communicate()[1]
    assert running.returncode == 0
    assert said == "softnpu: SOFTNPU_LOG_FILE: lines are lost: nobody reads them\n"


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("limit", [20, 150])
def test_a_limit_of_the_size_of_files(
    observed: Path, tmp_path: Path, variable: str, limit: int
) -> None:
    """What has room is there, and whole; the rest is told of, and nothing ends the program."""
    file = tmp_path / "file"
    said = ended(
        observed,
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
def test_a_full_disk(observed: Path, variable: str) -> None:
    """What cannot be written is told of, once; findings are printed."""
    said = ended(observed, "few calls", settings_of(variable, Path("/dev/full")))
    if variable == "SOFTNPU_CHECK_REPORT":
        assert "softnpu: memcheck (foreign-free): aclrtFree" in said
    else:
        assert said.startswith(f"softnpu: {variable}: ")
        assert said.endswith("No space left on device\n")
        assert said.count("\n") == 1


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_folder(observed: Path, tmp_path: Path, variable: str) -> None:
    """It is told that the setting is an invalid value."""
    said = ended(observed, "few calls", settings_of(variable, tmp_path))
    assert said.startswith(f'softnpu: {variable} is "{tmp_path}", an invalid value')


def test_a_trace_that_stays_locked(observed: Path, tmp_path: Path) -> None:
    """Events are lost, which is told, when another process holds the lock for long."""
    file = tmp_path / "trace"
    ended(observed, "few calls", {"SOFTNPU_TRACE": str(file)})
    before = file.read_text()
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = ended(observed, "few calls", {"SOFTNPU_TRACE": str(file)})
    assert "SOFTNPU_TRACE is " in said
    assert file.read_text() == before


@pytest.mark.parametrize("failing", [0, 6, 7, 58])
def test_files_that_are_written_in_steps(tmp_path: Path, failing: int) -> None:
    """All is there where no step fails for good; else what could not be written is left out."""
    log, trace = tmp_path / "log", tmp_path / "trace"
    program = compiled("unsteady_files", [*PUBLIC, "-rdynamic"])
    settings = {"SOFTNPU_LOG_FILE": str(log), "SOFTNPU_TRACE": str(trace), "SOFTNPU_BANNER": "0"}
    done = run(program, str(failing), **settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Input/output error\n") == done.stderr.count("\n") == bool(failing)
    lines = log.read_text().splitlines()
    assert all(line.startswith(FAILURE) and line.endswith("]") for line in lines)
    events = [e for e in json.loads(trace.read_text()) if e["ph"] == "X"]
    assert len(lines) + len(events) == 20 + 22 - bool(failing)


def test_files_that_are_moved_away(observed: Path, tmp_path: Path) -> None:
    """The program goes on in files of the same names."""
    files = [tmp_path / "log", tmp_path / "trace"]
    settings = {"SOFTNPU_LOG_FILE": str(files[0]), "SOFTNPU_TRACE": str(files[1])}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [observed, "twice"], env={**os.environ, **settings}, stdin=pipe, stdout=pipe
    ) as running:
        assert running.stdout is not None
        assert running.stdout.read(5) == b"once\n"
        for file in files:
            file.rename(file.with_suffix(".old"))
        running.communicate()
    assert running.returncode == 0
    for suffix in ("", ".old"):
        assert files[0].with_suffix(suffix).read_text().count(FAILURE) == 5
        events = json.loads(files[1].with_suffix(suffix).read_text())
        assert sum(event["ph"] == "X" for event in events) >= 10


def test_a_program_that_closes_all_descriptors(observed: Path, tmp_path: Path) -> None:
    """Nothing lands in files that it opens then."""
    files = {name: tmp_path / name for name in ("LOG_FILE", "STATS", "TRACE")}
    settings = {f"SOFTNPU_{name}": str(file) for name, file in files.items()}
    assert ended(observed, "no descriptors", settings) == ""
    assert (observed.parent / "own").read_text() == ""
    assert files["LOG_FILE"].read_text().count(FAILURE) == 10
    (row,) = json.loads(files["STATS"].read_text())["rows"]
    assert row["count"] == 10
    names = [event["name"] for event in json.loads(files["TRACE"].read_text())]
    assert names.count("aclrtFree") == 11


def test_signals_and_descriptors_of_the_program(tmp_path: Path) -> None:
    """Writing causes no signals, lets no handler run, and takes no number that is reused."""
    (tmp_path / "file").touch()
    done = run(compiled("surroundings", INTERNAL), str(tmp_path / "file"))
    assert done.returncode == 0, done.stderr


ELEMENTS = 300 * 200
BYTES = 4 * ELEMENTS
GATHER = "aclnnMaxUnpool3dBackward"


def test_statistics(traced_program: Path, tmp_path: Path) -> None:
    """Counts, failures, bytes and times of all that ran, one line for each process."""
    file = tmp_path / "stats"
    for _ in range(2):
        assert run(traced_program, "to its end", SOFTNPU_STATS=str(file)).returncode == 0
    processes = [json.loads(line) for line in file.read_text().splitlines()]
    assert len({process["pid"] for process in processes}) == 2
    for process in processes:
        assert process["program"] == "traced"
        rows = {row["what"]: row for row in process["rows"]}
        assert {
            name: (r["kind"], r["count"], r["failed"], r["bytes"]) for name, r in rows.items()
        } == {
            "aclnnElu": ("operator", 3, 0, 5 * BYTES + 800),
            GATHER: ("operator", 1, 1, 16),
            "aclrtMemcpyAsync": ("copy", 1, 0, 2 * BYTES),
            "aclrtMemcpy": ("copy", 1, 0, 16),
            "aclrtMemset": ("fill", 1, 0, BYTES),
        }
        for row in rows.values():
            assert 0 < row["median_ns"] <= row["total_ns"]
            assert row["count"] > 1 or row["median_ns"] == row["total_ns"]


def test_statistics_on_stderr(traced_program: Path) -> None:
    """SOFTNPU_STATS=stderr prints a table."""
    lines = run(traced_program, "to its end", SOFTNPU_STATS="stderr").stderr.splitlines()
    table = [line.split() for line in lines if line.startswith("softnpu: ") and "NPU" not in line]
    assert table[0][1:3] == ["operator", "count"]
    assert [row[1:3] for row in table[1:]] == [
        ["aclnnElu", "3"],
        [GATHER, "1"],
        ["aclrtMemcpy", "1"],
        ["aclrtMemcpyAsync", "1"],
        ["aclrtMemset", "1"],
    ]
