# SPDX-License-Identifier: Apache-2.0
"""A signal that ends the command ends what it has started, and whatever that has started."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
SCHEDULES = [["run", "--schedules", "2"], ["check", "--schedules", "2"]]
WAITING = [["run", "--stats"], ["run", "--explain-missing"], ["check"], *SCHEDULES]

# Starts a process, notes both, and waits.
WAITS = "#!/bin/sh\nsleep 60 &\necho $$ $! > pids.new\nmv pids.new pids\nwait\n"
# Ends as if nothing had happened.
HANDLES = WAITS.replace("sleep 60", "trap 'kill $!; exit 0' TERM\nsleep 60", 1)


# Runs a command in a terminal that stops its background for writing.
IN_TERMINAL = """
import os, pty, sys, termios
child, terminal = pty.fork()
if child == 0:
    settings = termios.tcgetattr(0)
    settings[3] |= termios.TOSTOP
    termios.tcsetattr(0, termios.TCSANOW, settings)
    os.execv(sys.argv[1], sys.argv[1:])
try:
    while os.read(terminal, 1000):
        pass
except OSError:  # nobody else has it open any more
    pass
"""


def processes(folder: Path) -> list[int]:
    """The processes that a program has noted."""
    file = folder / "pids"
    until = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    return [int(word) for word in file.read_text().split()]


def state(process: int) -> str:
    """What it does: R runs, S sleeps, T is stopped; X is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def is_running(process: int) -> bool:
    """Say whether it lives; who is to take note of its end may be slow."""
    return state(process) not in "ZX"


def is_stopped(process: int) -> bool:
    """Wait a little for a process to stop."""
    until = time.monotonic() + 60
    while state(process) != "T" and time.monotonic() < until:
        time.sleep(0.02)
    return state(process) == "T"


def ended(found: list[int], limit: float = 5) -> bool:
    """Wait a little for processes to end."""
    until = time.monotonic() + limit
    while any(map(is_running, found)):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("words", SCHEDULES, ids=" ".join)
def test_under_schedules(softnpu: Any, words: list[str], number: signal.Signals) -> None:
    """The exit status is a shell's for the signal."""
    softnpu.write("wait.sh", WAITS, executable=True)
    with softnpu.start(*words, "wait.sh") as command:
        found = processes(softnpu.folder)
        command.send_signal(number)
        assert command.wait() == 128 + number
    assert ended(found)


def test_a_program_that_ends_well(softnpu: Any) -> None:
    """It is not run again: the signal was for the command."""
    softnpu.write("wait.sh", HANDLES, executable=True)
    with softnpu.start("run", "--schedules", 2, "wait.sh") as command:
        found = processes(softnpu.folder)
        (softnpu.folder / "pids").unlink()
        command.send_signal(signal.SIGTERM)
        assert command.wait() == 128 + signal.SIGTERM
    assert ended(found)
    assert not (softnpu.folder / "pids").exists()


def test_findings_are_shown(softnpu: Any) -> None:
    """What was found before a signal came is the result all the same."""
    text = "import acl, signal\nacl.rt.free(1)\nopen('pids', 'w').write('0')\nsignal.pause()\n"
    softnpu.write("wait.py", text)
    with softnpu.start("check", "--format", "json", "--schedules", 2, "wait.py") as command:
        processes(softnpu.folder)
        command.send_signal(signal.SIGTERM)
        assert "aclrtFree" in command.stdout.read()
    assert command.returncode == 86


@pytest.mark.parametrize("words", WAITING, ids=" ".join)
def test_a_killed_command(softnpu: Any, words: list[str]) -> None:
    """Its program does not stay behind."""
    softnpu.write("wait.sh", WAITS, executable=True)
    with softnpu.start(*words, "wait.sh") as command:
        program, _ = processes(softnpu.folder)
        command.kill()
    assert ended([program])


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("words", [["run"], ["check"], ["build", "-o", "out"]], ids=" ".join)
def test_while_the_compiler_runs(softnpu: Any, words: list[str], number: signal.Signals) -> None:
    """Nothing half-built is left, and nothing is run."""
    compiler = softnpu.write("cc.sh", WAITS, executable=True)
    softnpu.environment["CXX"] = str(compiler)
    softnpu.write("hello.cpp", "int main() {}\n")
    with softnpu.start(*words, "hello.cpp") as command:
        found = processes(softnpu.folder)
        command.send_signal(number)
        assert command.wait() == 128 + number
    assert ended(found)


@pytest.mark.parametrize("number", ENDING)
def test_a_stopped_program(softnpu: Any, number: signal.Signals) -> None:
    """It ends, too."""
    softnpu.write("stop.sh", WAITS.replace("wait\n", "kill -STOP $$\n"), executable=True)
    with softnpu.start("run", "--schedules", 1, "stop.sh") as command:
        found = processes(softnpu.folder)
        assert is_stopped(found[0])
        command.send_signal(number)
        ended([command.pid], limit=60)
        command.kill()
    assert command.returncode == 128 + number
    assert ended(found)


@pytest.mark.parametrize(
    "words", [["run", "--schedules", 1, "use.sh"], ["build", "-o", "x", "y.c"]]
)
def test_a_terminal(softnpu: Any, words: list[object]) -> None:
    """Programs that write to it or read from it are not stopped, whatever its settings."""
    script = "#!/bin/sh\necho line > /dev/tty\nread line < /dev/tty\ntouch end\n"
    softnpu.environment["CC"] = str(softnpu.write("use.sh", script, executable=True))
    softnpu.write("y.c", "")
    softnpu.command[:0] = [sys.executable, "-c", IN_TERMINAL]
    with softnpu.start(*words) as command:
        ended([command.pid], limit=60)
        command.kill()
    assert (softnpu.folder / "end").exists()


def test_ignored_signals_stay_ignored(softnpu: Any) -> None:
    """As under nohup."""
    softnpu.write("short.sh", "#!/bin/sh\ntouch pids\nsleep 1\n", executable=True)
    softnpu.command[:0] = ["nohup"]
    with softnpu.start("run", "--schedules", 1, "short.sh") as command:
        processes(softnpu.folder)
        command.send_signal(signal.SIGHUP)
        assert command.wait() == 0
