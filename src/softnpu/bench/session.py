# SPDX-License-Identifier: Apache-2.0
"""One run of the benchmark: prepare a case, check that both sides agree, time them."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from softnpu.bench import machine
from softnpu.bench.arrays import Arrays, NumpyArray, to_numpy
from softnpu.bench.cases import Case, Prepared
from softnpu.bench.ceilings import Ceilings
from softnpu.bench.results import BUSY, Row
from softnpu.bench.runner import Plan, Side, Timing, measure, timed

# Below this, caches and calls decide; a bandwidth says nothing.
CEILING_FROM = 1 << 14
# The peer rounds otherwise, and 16-bit sums in another order; the same work is what is asked for.
TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1}
# More is not compared: a sample of the rows tells as much.
COMPARED = 1 << 21
# How long to wait for others to finish before a case is measured again.
PAUSES = (0.3, 1.0)


class DisagreementError(Exception):
    """Both sides of a case do not do the same."""


@dataclass
class Session:
    """Runs cases, one after the other, with arrays of one kind."""

    arrays: Arrays
    ceilings: Ceilings | None
    plan: Plan
    # Seconds that may go into measuring again what other programs disturbed.
    patience: float = 180.0

    def fits(self, case: Case) -> bool:
        """Whether the machine has the memory for a case, and for the triad beside it."""
        return 2 * case.memory + (1 << 30) < machine.memory("MemAvailable")

    def run(self, case: Case) -> Row:
        """Time one case."""
        prepared = case.prepare(self.arrays)
        agree(case, prepared)
        renew = prepared.renew
        ours = prepared.softnpu_timed or timed(prepared.softnpu, before=renew)
        sides: dict[str, Side] = {"softnpu": ours}
        if prepared.peer is not None:
            sides["peer"] = timed(prepared.peer, before=renew)
        if self.ceilings is not None and case.elements >= CEILING_FROM and case.bytes:
            sides["triad"] = self.ceilings.triad(case.bytes)
        timings, busy = self._quietly(sides)
        del prepared, sides
        gc.collect()
        return Row.of(case, timings, busy)

    def _quietly(self, sides: dict[str, Side]) -> tuple[dict[str, Timing], float]:
        """Measure; when other programs were running, again, and keep the quietest attempt.

        All sides are measured anew together, so no side chooses its best.
        """
        attempts = []
        for pause in (*PAUSES, 0.0):
            machine.return_freed_memory()
            cores = len(os.sched_getaffinity(0))
            start, others = time.perf_counter(), machine.others_seconds()
            timings = measure(sides, self.plan)
            used = (machine.others_seconds() - others) / (time.perf_counter() - start) / cores
            attempts.append((timings, max(0.0, used)))
            if used <= BUSY or self.patience <= 0:
                break
            self.patience -= time.perf_counter() - start + pause
            time.sleep(pause)
        return min(attempts, key=lambda attempt: attempt[1])


def agree(case: Case, prepared: Prepared) -> None:
    """Compare both sides' results; a case whose sides do different work measures nothing."""
    if prepared.peer is None:
        return
    results = []
    for call in (prepared.softnpu, prepared.peer):
        if prepared.out is not None:
            to_numpy(prepared.out)[...] = 77  # what is not written will differ from nothing
        result = call()
        # The peer's view of the output may have its axes in another order.
        results.append(_sample(to_numpy(result if prepared.out is None else prepared.out)))
    ours, theirs = results
    theirs = theirs.reshape(ours.shape)  # of gathers, whose peer is flat
    tolerance = max(TOLERANCE.get(name, 1e-4) for name in _types(case))
    worst = np.abs(ours - theirs) - tolerance * (1 + np.abs(theirs))
    if not bool((worst <= 0).all()):
        raise DisagreementError(f"{case.id}: softnpu and PyTorch give different results")


def _types(case: Case) -> list[str]:
    return case.dtype.replace("-to-", "-").split("-")


def _sample(result: NumpyArray) -> NumpyArray:
    """Copy some rows to float64, always the same ones."""
    rows = result.reshape(-1, *result.shape[-1:]) if result.flags.c_contiguous else result
    step = max(1, result.size // COMPARED)
    picked: NumpyArray = rows[::step].astype(np.float64)
    return picked


def import_times(rounds: int = 9) -> Iterator[float]:
    """Give the milliseconds of ``import softnpu`` in processes that have imported NumPy."""
    code = (
        "import numpy, time; start = time.perf_counter(); import softnpu;"
        "print(1000 * (time.perf_counter() - start))"
    )
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        yield float(done.stdout)


def import_time(rounds: int = 9) -> dict[str, Any]:
    """Give their median and the quartiles."""
    times = sorted(import_times(rounds))
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return {"median_ms": middle, "low_ms": low, "high_ms": high, "rounds": rounds}
