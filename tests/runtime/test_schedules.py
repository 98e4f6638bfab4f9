# SPDX-License-Identifier: Apache-2.0
"""SOFTNPU_SCHEDULE: what forgets to synchronise shows, and what does not stays right."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.native import WITHOUT_OPERATORS, compiled, run

SCHEDULES = ("eager", "deferred", *(f"random:{seed}" for seed in range(1, 21)))
Runner = Callable[[str, str], str]


@pytest.fixture(scope="module")
def program() -> Path:
    """The program, compiled."""
    return compiled("schedules", WITHOUT_OPERATORS)


@pytest.fixture
def printed(program: Path) -> Runner:
    """What one of its parts prints under a schedule."""

    def run_part(part: str, schedule: str) -> str:
        done = run(program, part, SOFTNPU_SCHEDULE=schedule)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run_part


def test_a_missing_synchronization_gives_stale_values(printed: Runner) -> None:
    """With deferred every time; the program that synchronises is right under every schedule."""
    assert printed("read at once", "eager") == "2\n"
    assert [printed("read at once", "deferred") for _ in range(5)] == ["1\n"] * 5
    for schedule in SCHEDULES:
        assert printed("synchronize and read", schedule) == "2\n", schedule


def test_a_missing_event_shows_for_some_seed(printed: Runner) -> None:
    """Of 20 seeds some let the reader be first; with the event none does."""
    seeds = [schedule for schedule in SCHEDULES if schedule.startswith("random")]
    assert {printed("copy at once", schedule) for schedule in seeds} == {"1\n", "2\n"}
    for schedule in SCHEDULES:
        assert printed("wait and copy", schedule) == "2\n", schedule


def test_a_seed_gives_its_order_again(printed: Runner) -> None:
    """Orders differ between seeds, not between runs, and keep the order within a stream."""
    orders = {}
    for schedule in SCHEDULES:
        orders[schedule] = printed("print the order", schedule)
        names = orders[schedule].split()
        assert len(names) == 15
        for stream in "abc":
            own = [name for name in names if name.startswith(stream)]
            assert own == [f"{stream}{k}" for k in range(5)]
    assert len(set(orders.values())) > 10
    for schedule in ("deferred", "random:1", "random:2", "random:3"):
        for _ in range(3):
            assert printed("print the order", schedule) == orders[schedule]


@pytest.mark.parametrize("schedule", ["deferred", "random:1", "random:2", "random:3"])
def test_a_program_that_asks_ends(printed: Runner, schedule: str) -> None:
    """Each question but the first lets a piece run, of the streams that the answer depends on."""
    value, questions = printed("ask", schedule).splitlines()
    assert value == "3"
    count = int(questions.split()[0])
    assert count == 6 if schedule == "deferred" else count <= 6


@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:1"])
def test_a_program_that_looks_at_memory_ends(program: Path, schedule: str) -> None:
    """Work runs by itself when nothing else happens, which deferred always says."""
    done = run(program, "look", SOFTNPU_SCHEDULE=schedule)
    assert (done.returncode, done.stdout) == (0, "written\n")
    said = "runs, because" in done.stderr
    assert said == (schedule == "deferred") or schedule.startswith("random")


@pytest.mark.parametrize("schedule", ["deferred", "random:1"])
def test_little_is_held_back(printed: Runner, schedule: str) -> None:
    """A program that launches without end and never waits does not fill the memory."""
    assert printed("launch far ahead", schedule) == "bounded\n3000\n"


def test_a_seed_is_drawn(program: Path) -> None:
    """`random` says the seed that it drew, in one line; that seed gives the same order."""
    drawn = run(program, "print the order", SOFTNPU_SCHEDULE="random")
    found = re.fullmatch(r"softnpu: SOFTNPU_SCHEDULE=(random:\d+) gives .+\n", drawn.stderr)
    assert found, drawn.stderr
    again = run(program, "print the order", SOFTNPU_SCHEDULE=found[1])
    assert (again.stdout, again.stderr) == (drawn.stdout, "")


@pytest.mark.parametrize("wrong", ["lazy", "random:", "random:-1", "random:x", "random:1:2"])
def test_an_unknown_schedule_is_said(program: Path, wrong: str) -> None:
    """An unknown schedule is said on stderr, and not followed."""
    done = run(program, "read at once", SOFTNPU_SCHEDULE=wrong)
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert done.stderr == (
        f'softnpu: SOFTNPU_SCHEDULE is "{wrong}", an invalid value; expected eager, '
        "deferred, random or random:SEED\n"
    )
