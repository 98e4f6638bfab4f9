# SPDX-License-Identifier: Apache-2.0
"""Runs a program under several schedules, and reports the first with a different result."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from softnpu.cli.child import Outcome, run_in_group
from softnpu.cli.output import EXIT_FAILURE, EXIT_NOT_RUNNABLE, EXIT_USAGE, fail

VARIABLE = "SOFTNPU_SCHEDULE"

_LARGEST_SEED = 2**64 - 1
# A program that takes this many times as long as with eager, and at least a minute, hangs.
_TIMES_AS_LONG = 20
_SHORTEST_LIMIT = 60.0


@dataclass(frozen=True)
class Difference:
    """The first seed whose run differs from the eager one: the difference and an exit status."""

    seed: int
    what: str
    status: int
    outcome: Outcome


def checked_schedule(schedule: str) -> str:
    """Return ``schedule``, or end the command if there is no such schedule."""
    seed = re.fullmatch(r"random:(\d{1,20})", schedule, re.ASCII)
    seeded = seed is not None and int(seed[1]) <= _LARGEST_SEED
    if not seeded and schedule not in ("eager", "deferred", "random"):
        known = "eager, deferred, random and random:SEED"
        fail(
            f"there is no schedule {schedule!r}",
            EXIT_USAGE,
            hint=f"It must be one of {known}, with a number as SEED.",
        )
    return schedule


def outcome(
    command: Sequence[str],
    environment: Mapping[str, str],
    schedule: str,
    seconds: float | None = None,
) -> Outcome:
    """Run a command under a schedule, without input."""
    try:
        return run_in_group(command, {**environment, VARIABLE: schedule}, seconds)
    except OSError as error:
        fail(f"cannot run {command[0]}: {error.strerror}", EXIT_NOT_RUNNABLE)


def first_difference(
    command: Sequence[str],
    environment: Mapping[str, str],
    eager: Outcome,
    seeds: Iterable[int],
    found_in_run: Callable[[], str] = lambda: "",
) -> Difference | None:
    """Compare runs in random orders, one for each seed, with the eager one.

    ``found_in_run`` is called after each run. A text that it returns counts as a difference.
    """
    limit = max(_SHORTEST_LIMIT, _TIMES_AS_LONG * eager.seconds)
    for seed in seeds:
        other = outcome(command, environment, f"random:{seed}", limit)
        if found := found_in_run() or _difference(eager, other, limit):
            return Difference(seed, found, other.status or EXIT_FAILURE, other)
    return None


def _difference(eager: Outcome, other: Outcome, limit: float) -> str:
    if other.status is None:
        return f"the program did not end within {limit:.0f} s"
    if other.status != eager.status:
        return f"the exit status is {other.status} instead of {eager.status}"
    if other.stdout == eager.stdout:
        return ""
    pairs = zip(eager.stdout.splitlines(), other.stdout.splitlines(), strict=False)
    for number, (expected, got) in enumerate(pairs, 1):
        if expected != got:
            return f"line {number} of stdout is {_shown(got)} instead of {_shown(expected)}"
    return f"stdout has {len(other.stdout)} bytes instead of {len(eager.stdout)}"


def _shown(line: bytes) -> str:
    longest = 60
    text = repr(line.decode(errors="backslashreplace"))
    return text if len(text) <= longest else f"{text[:longest]}...'"
