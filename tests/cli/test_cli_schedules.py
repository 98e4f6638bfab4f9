# SPDX-License-Identifier: Apache-2.0
"""`softnpu run --schedule` and `--schedules`: a program under other schedules."""

from pathlib import Path
from typing import Any

import pytest

SCHEDULES = Path(__file__).parents[1] / "runtime" / "schedules.cpp"


def test_schedule(softnpu: Any) -> None:
    """The program runs under the schedule; a missing synchronisation shows."""
    done = softnpu("run", "--schedule", "deferred", SCHEDULES, "read at once")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    assert softnpu("run", "--schedule", "eager", SCHEDULES, "read at once").stdout == "2\n"


@pytest.mark.parametrize("wrong", ["lazy", "random:", "random:x", "random:99999999999999999999"])
def test_unknown_schedule(softnpu: Any, wrong: str) -> None:
    """An unknown schedule is a usage error that lists the known ones."""
    done = softnpu("run", "--schedule", wrong, SCHEDULES, "read at once")
    assert (done.returncode, done.stdout) == (2, "")
    assert "eager, deferred, random and random:SEED" in done.stderr


def test_schedules_that_agree(softnpu: Any) -> None:
    """A program without a mistake runs as often as asked; its output is printed once."""
    done = softnpu("run", "--schedules", 20, SCHEDULES, "wait and copy")
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert done.stderr == "softnpu: the same with 20 random schedules\n"


def test_schedules_that_differ(softnpu: Any) -> None:
    """The first seed that changes the output is told; it changes the output again."""
    done = softnpu("run", "--schedules", 20, SCHEDULES, "copy at once")
    assert (done.returncode, done.stdout) == (1, "2\n")
    assert ": line 1 of stdout is '1' instead of '2'" in done.stderr
    replay = done.stderr.splitlines()[-1].removeprefix("Replay it with: softnpu run --schedule ")
    seed = replay.split()[0]
    assert softnpu("run", "--schedule", seed, SCHEDULES, "copy at once").stdout == "1\n"


def test_a_program_that_fails(softnpu: Any) -> None:
    """Its own exit status comes through, whether it always fails or under a schedule only."""
    softnpu.write("always.sh", "#!/bin/sh\nexit 7\n", executable=True)
    assert softnpu("run", "--schedules", 2, "always.sh").returncode == 7
    text = "#!/bin/sh\ncase $SOFTNPU_SCHEDULE in random:2) kill -SEGV $$;; esac\n"
    softnpu.write("seldom.sh", text, executable=True)
    done = softnpu("run", "--schedules", 3, "seldom.sh", "-x", "a b")
    assert done.returncode == 139
    assert "random:2: the exit status is 139 instead of 0" in done.stderr
    assert "softnpu run --schedule random:2 seldom.sh -x 'a b'\n" in done.stderr


def test_one_or_many(softnpu: Any) -> None:
    """One schedule and a number of them are not asked for together."""
    done = softnpu("run", "--schedules", 2, "--schedule", "eager", SCHEDULES)
    assert done.returncode == 2
