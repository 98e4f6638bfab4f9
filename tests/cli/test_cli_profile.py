# SPDX-License-Identifier: Apache-2.0
"""`softnpu run --trace` and `--stats`: what they show, and that the program stays as it is."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from typing import Any

import pytest

from softnpu.cli import stats
from tests.support.documents import blocks

PAGE = "docs/tracing.md"
NOTHING_RUNS = 'print("out"); import sys; print(sys.stdin.read()); sys.exit(3)\n'
ROW = re.compile(
    r"^ +(\w+) +(\d+) +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d) %", re.M
)


def example() -> str:
    """The page's program."""
    (block,) = blocks(PAGE, "python")
    return block.text


def shown(text: str) -> list[tuple[str, str, str]]:
    """Operators, counts and megabytes of a table."""
    return [(row[0], row[1], row[4]) for row in ROW.findall(text)]


def test_the_page(softnpu: Any) -> None:
    """The example gives the table that the page shows, but for times; lines are as shown, too."""
    softnpu.write("example.py", example())
    done = softnpu("run", "--trace", "out.json", "--stats", "example.py")
    assert (done.returncode, done.stdout) == (0, "")
    table, lines = blocks(PAGE, "text")
    assert sorted(shown(done.stderr)) == sorted(shown(table.text)) != []
    events = json.loads((softnpu.folder / "out.json").read_text())
    operators = [e for e in events if e.get("cat") == "operator"]
    assert [e["name"] for e in operators] == ["aclnnElu", *["aclnnEluBackward"] * 3]
    assert operators[1]["args"]["gradOutput"] == "FLOAT [1024, 1024] permuted"
    done = softnpu("run", "example.py", env={"SOFTNPU_VERBOSE": "1"})
    printed = [line.rpartition(",")[0] for line in done.stderr.splitlines()]
    wanted = [line.rpartition(",")[0] for line in lines.text.splitlines()]
    assert printed == [wanted[0], *[wanted[1]] * 3]


def test_a_trace_replaces_an_older_one(softnpu: Any) -> None:
    """The file has one run alone; the rest is as without --trace. Other files stay."""
    softnpu.write("x.py", "import numpy, softnpu; softnpu.elu(numpy.ones(3, 'f')); print(input())")
    (softnpu.folder / "out").mkdir()
    softnpu.write("out/trace.json", "{}")
    done = softnpu("run", "--trace", "out/trace.json", "x.py")
    assert done.returncode == 2
    assert "out/trace.json is no trace" in done.stderr
    softnpu.write("out/trace.json", "[]")
    for _ in range(2):
        done = softnpu("run", "--trace", "out/trace.json", "x.py", stdin="line")
        assert (done.returncode, done.stdout, done.stderr) == (0, "line\n", "")
        events = json.loads((softnpu.folder / "out" / "trace.json").read_text())
        assert [e["name"] for e in events if e["ph"] == "X"] == ["aclnnElu"]


def test_a_trace_that_cannot_be_written(softnpu: Any) -> None:
    """Nothing runs then."""
    softnpu.write("x.py", "print(1)")
    done = softnpu("run", "--trace", "no/folder/out.json", "x.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot write to no/folder/out.json" in done.stderr


def test_a_pipe_without_a_reader(softnpu: Any) -> None:
    """The command does not wait for one."""
    softnpu.write("x.py", "print(1)")
    os.mkfifo(softnpu.folder / "pipe")
    done = softnpu("run", "--trace", "pipe", "x.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot write to pipe" in done.stderr


def test_statistics_leave_the_program_alone(softnpu: Any) -> None:
    """Input, output and exit status are the program's."""
    softnpu.write("x.py", NOTHING_RUNS)
    done = softnpu("run", "--stats", "x.py", stdin="in")
    assert (done.returncode, done.stdout) == (3, "out\nin\n")
    assert done.stderr.startswith("softnpu: no statistics: nothing ran")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_death_by_signal(softnpu: Any, number: signal.Signals) -> None:
    """The command ends by the signal that killed the program."""
    softnpu.write("x.sh", f"#!/bin/sh\nkill -{int(number)} $$\n", executable=True)
    assert softnpu("run", "--stats", "x.sh").returncode == -number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP])
def test_signals_reach_the_program(softnpu: Any, number: signal.Signals) -> None:
    """A signal to the command reaches the program, once, which does with it what it likes."""
    text = """#include <csignal>
#include <unistd.h>
extern "C" void handle(int) { write(1, "caught\\n", 7); }
int main(int, char **) {
  std::signal(NUMBER, handle);
  write(1, "ready\\n", 6);
  char c;
  while (read(0, &c, 1) != 0) {}
  return 5;
}
""".replace("NUMBER", str(int(number)))
    softnpu.write("wait.cpp", text)
    with softnpu.start("run", "--stats", "--cxxflags=-w", "wait.cpp") as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.readline() == "caught\n"
        time.sleep(0.2)
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait() == 5


def test_shares(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A bandwidth is compared with copies of as many bytes as a call has, measured once a size."""
    measured: list[int] = []

    def bandwidth(size: int, threads: int) -> float:
        assert threads > 0
        measured.append(size)
        return 20.0

    monkeypatch.setattr(stats, "copy_bandwidth", bandwidth)
    row = stats.Row("a", "operator", 2, 0, 1_000_000, 500_000, 10_000_000)
    small = stats.Row("b", "operator", 1, 1, 1_000, 1_000, 64)
    huge = stats.Row("c", "copy", 1, 0, 1_000_000_000, 1_000_000_000, 1 << 30)
    none = stats.Row("d", "host function", 3, 0, 9_000_000, 3_000_000, 0)
    stats.show_stats(
        [stats.Process(1, "p", [row, small, huge, none]), stats.Process(2, "q", [row])]
    )
    assert measured == [8 << 20, 64 << 10, 256 << 20]
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert ["a", "2", "1.000", "0.500", "10.000", "10.000", "50.0", "%"] in lines
    assert ["b", "1", "1", "0.001", "0.001", "0.000", "0.064", "0.3", "%"] in lines
    assert ["d", "3", "9.000", "3.000", "0.000"] in lines
    assert ["q", "(process", "2)"] in lines
