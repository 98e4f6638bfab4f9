# SPDX-License-Identifier: Apache-2.0
"""How sides are timed against each other: interleaved rounds, medians, spread, noise.

In every round each side runs once, some calls long; from round to round the order turns around, so
that a drift of the machine meets all sides alike. Rounds belong in turn to one of two identical
runs: what these two differ by is the noise that a comparison has to exceed.

Idle threads of OpenMP, PyTorch's, spin for some milliseconds after each call. On a machine with as
many threads as processors they would take a processor from whichever side comes next, so every side
starts when all threads of the process sleep, and runs for some time before it is timed.
"""

from __future__ import annotations

import gc
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from softnpu.bench import machine

Clock = Callable[[], float]
# Runs n calls and gives the seconds that all of them took.
Side = Callable[[int], float]

WARM_UP_CALLS = 2


TOGETHER = """
def run(calls):
    start = clock()
    for _ in repeat(None, calls):
        function({arguments})
    return clock() - start
"""
ONE_BY_ONE = """
def run(calls):
    seconds = 0.0
    for _ in repeat(None, calls):
        before()
        start = clock()
        function({arguments})
        seconds += clock() - start
    return seconds
"""


@dataclass(frozen=True)
class Plan:
    """How long to measure: seconds for a case, rounds at least and at most, seconds for a round."""

    budget: float = 0.6
    min_rounds: int = 8
    max_rounds: int = 24
    round_time: float = 2e-3
    max_calls: int = 100_000
    # How long each side runs before a round, one call at least, without being counted.
    lead_in: float = 10e-3


QUICK = Plan(budget=0.3, max_rounds=16)


@dataclass(frozen=True)
class Timing:
    """One side's seconds for a call: the median, the quartiles, the medians of both runs."""

    median: float
    low: float
    high: float
    halves: tuple[float, float]
    rounds: int
    calls: int

    @property
    def noise(self) -> float:
        """How far the two identical runs are apart, as a quotient of at least 1."""
        return apart(*self.halves)

    @property
    def spread(self) -> float:
        """The distance of the quartiles over the median."""
        return (self.high - self.low) / self.median if self.median else 0.0


def apart(first: float, second: float) -> float:
    """Give the quotient of two positive numbers that is at least 1."""
    if min(first, second) <= 0:
        return 1.0
    return max(first / second, second / first)


def timed(
    call: Callable[[], Any],
    clock: Clock = time.perf_counter,
    before: Callable[[], Any] | None = None,
) -> Side:
    """Make a side of a call that does not time itself; what runs ``before`` each call is not timed.

    A partial is written out in the loop's source, as a program that calls the function would have
    it: going through the partial and its keywords costs 150 ns, a quarter of a small call.
    """
    values: dict[str, Any] = {
        "clock": clock,
        "function": call,
        "before": before,
        "repeat": itertools.repeat,
    }
    arguments: list[str] = []
    if isinstance(call, partial):
        values["function"] = call.func
        for number, value in enumerate(call.args):
            values[f"a{number}"] = value
            arguments.append(f"a{number}")
        for name, value in call.keywords.items():
            values[f"k_{name}"] = value
            arguments.append(f"{name}=k_{name}")
    source = TOGETHER if before is None else ONE_BY_ONE
    exec(source.format(arguments=", ".join(arguments)), values)
    run: Side = values["run"]
    return run


def measure(
    sides: Mapping[str, Side], plan: Plan, settle: Callable[[], None] = machine.settle
) -> dict[str, Timing]:
    """Time the sides against each other."""
    with _no_collection():
        calls = {name: _calibrate(side, plan) for name, side in sides.items()}
        samples: dict[str, list[float]] = {name: [] for name in sides}
        spent = 0.0
        for number in range(plan.max_rounds):
            # Both runs have as many rounds of both orders.
            if number >= plan.min_rounds and number % 4 == 0 and spent > plan.budget:
                break
            for name in _order(list(sides), number):
                side, count = sides[name], calls[name]
                settle()
                spent += _lead_in(side, 1 + count // 4, plan)
                seconds = side(count)
                spent += seconds
                samples[name].append(seconds / count)
    return {name: summarise(samples[name], calls[name]) for name in sides}


def summarise(samples: list[float], calls: int = 1) -> Timing:
    """Reduce the seconds of all rounds."""
    halves = [
        statistics.median([value for at, value in enumerate(samples) if run_of(at) == run])
        if len(samples) > 2
        else statistics.median(samples)
        for run in (0, 1)
    ]
    low, middle, high = (
        statistics.quantiles(samples, n=4, method="inclusive")
        if len(samples) > 1
        else [samples[0]] * 3
    )
    return Timing(middle, low, high, (halves[0], halves[1]), len(samples), calls)


def run_of(number: int) -> int:
    """Tell which of the two identical runs a round belongs to."""
    return number // 2 % 2


def _order(names: list[str], number: int) -> list[str]:
    return names if number % 2 == 0 else names[::-1]


def _lead_in(side: Side, calls: int, plan: Plan) -> float:
    """Run a side until it is as in a loop of calls: its data in the caches, its threads awake.

    One call is not enough: a shared cache of a Xeon keeps 75 MB only once they were read several
    times, and the upsample gradient then takes 1.5 ms instead of 2.8, a triad 1.3 instead of 1.9.
    """
    seconds = side(calls)
    while seconds < plan.lead_in:
        seconds += side(calls)
    return seconds


def _calibrate(side: Side, plan: Plan) -> int:
    """Warm a side up, and find how many calls make a round long enough for the clock."""
    for _ in range(WARM_UP_CALLS):
        side(1)
    calls = 1
    while calls < plan.max_calls:
        seconds = side(calls)
        if seconds >= plan.round_time:
            break
        wanted = math.ceil(calls * plan.round_time / seconds) if seconds > 0 else calls * 10
        # The first calls mislead: come near in steps, and stop once it is near enough.
        if wanted <= 1.3 * calls:
            return min(wanted, plan.max_calls)
        calls = min(wanted, calls * 10, plan.max_calls)
    return calls


@contextmanager
def _no_collection() -> Iterator[None]:
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
