# SPDX-License-Identifier: Apache-2.0
"""Timing, with a clock that does what the test says."""

from __future__ import annotations

import gc

import pytest

from softnpu.bench.runner import Plan, Side, measure, summarise, timed


class Machine:
    """A clock, and sides that move it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[str] = []
        self.settled = 0

    def clock(self) -> float:
        """The time."""
        return self.now

    def settle(self) -> None:
        """Lets time pass that belongs to nobody."""
        self.settled += 1
        self.now += 1000.0

    def side(self, name: str, seconds: float) -> Side:
        """A call that takes so long."""

        def call() -> None:
            self.ran.append(name)
            self.now += seconds

        return timed(call, self.clock)


def test_the_seconds_of_a_call_are_found() -> None:
    """Whatever the number of calls in a round; long calls stand alone, short ones in numbers."""
    machine = Machine()
    sides = {"short": machine.side("short", 1e-6), "long": machine.side("long", 0.5)}
    timings = measure(sides, Plan(budget=1, min_rounds=8, max_rounds=8), machine.settle)
    for name, seconds in (("short", 1e-6), ("long", 0.5)):
        found = timings[name]
        assert found.median == pytest.approx(seconds)
        assert found.low == pytest.approx(seconds)
        assert found.noise == pytest.approx(1)
        assert found.rounds == 8
    assert timings["long"].calls == 1
    assert timings["short"].calls * 1e-6 == pytest.approx(Plan().round_time, rel=0.35)


def test_what_comes_before_each_call_is_not_timed() -> None:
    """It runs as often as the call, and its seconds are in no number."""
    machine = Machine()

    def before() -> None:
        machine.ran.append("before")
        machine.now += 100.0

    def call() -> None:
        machine.ran.append("call")
        machine.now += 0.5

    assert timed(call, machine.clock, before)(3) == pytest.approx(1.5)
    assert machine.ran == ["before", "call"] * 3


def test_sides_take_turns() -> None:
    """In each round every side once, and the order turns around from round to round."""
    machine = Machine()
    sides = {name: machine.side(name, 1.0) for name in ("a", "b")}
    measure(sides, Plan(budget=0, min_rounds=4, max_rounds=4, lead_in=0), machine.settle)
    # Without the calls that warm up and calibrate, and with the one that leads in each side.
    order = [
        name for at, name in enumerate(machine.ran[6:]) if machine.ran[6:][at - 1 : at] != [name]
    ]
    assert order == ["a", "b", "a", "b", "a"]
    assert machine.settled == 8


def test_noise_is_what_identical_runs_differ_by() -> None:
    """Rounds 0, 1, 4, 5 are one run, rounds 2, 3, 6, 7 the other; both have both orders."""
    found = summarise([1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0])
    assert found.halves == (1.0, 2.0)
    assert found.noise == 2.0
    assert summarise([2.0, 2.0, 1.0, 1.0]).noise == 2.0


def test_a_single_outlier_moves_neither_median_nor_noise() -> None:
    """That is what medians are for."""
    found = summarise([1.0] * 11 + [1000.0] + [1.0] * 4)
    assert found.median == 1.0
    assert found.noise == 1.0
    assert found.spread == 0.0


def test_the_budget_ends_a_case_but_not_before_the_least_rounds() -> None:
    """Slow cases get few rounds, all of them whole."""
    machine = Machine()
    plan = Plan(budget=2.0, min_rounds=8, max_rounds=100)
    slow = measure({"a": machine.side("a", 10.0)}, plan, machine.settle)
    assert slow["a"].rounds == 8
    quick = measure({"a": machine.side("a", 0.1)}, plan, machine.settle)
    assert quick["a"].rounds == 12  # each with a call that leads in


def test_each_side_runs_for_a_while_before_a_round() -> None:
    """As long as the plan says, whole calls, and one where that is longer; none of it counts."""
    machine = Machine()
    sides = {"short": machine.side("short", 0.4), "long": machine.side("long", 3.0)}
    plan = Plan(budget=0, min_rounds=4, max_rounds=4, lead_in=1.0)
    timings = measure(sides, plan, machine.settle)
    calibration = 3
    assert machine.ran.count("short") == calibration + 4 * (3 + 1)
    assert machine.ran.count("long") == calibration + 4 * (1 + 1)
    assert timings["short"].median == pytest.approx(0.4)
    assert timings["long"].median == pytest.approx(3.0)


def test_no_garbage_is_collected_meanwhile() -> None:
    """And collection is on again afterwards."""
    machine = Machine()
    seen = []
    call = machine.side("a", 1.0)

    def side(calls: int) -> float:
        seen.append(gc.isenabled())
        return call(calls)

    measure({"a": side}, Plan(max_rounds=4, min_rounds=4), machine.settle)
    assert not any(seen)
    assert gc.isenabled()
