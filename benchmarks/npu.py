# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's device `npu` costs: operators without a kernel of softnpu's, on npu and on cpu.

    python -m benchmarks.npu [--rounds 50]

Both devices take turns in one process, on one thread. Times are that thread's own, so that other
programs disturb little. Each number is the median of all rounds, the ratio that of a round's times.
"""

from __future__ import annotations

import argparse
import statistics
import time
import timeit
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

import softnpu.torch.npu  # noqa: F401

STATEMENTS: dict[str, Callable[[Tensor], Tensor]] = {
    "x + 1": lambda x: x + 1,
    "x @ x": lambda x: x @ x,
    "softmax(x, 1)": lambda x: x.softmax(1),
}
EDGES = (4, 1024)  # 16 elements, where a call costs most, and 1M, where its work does
ROUND = 5e-3  # seconds of a round, of one call at least


def measured(calls: dict[str, Callable[[], Tensor]], rounds: int) -> dict[str, list[float]]:
    """Microseconds of a call in each round; sides begin in turn."""
    number = max(1, int(ROUND / min(timed(calls["cpu"], 3) for _ in range(3))))
    order = list(calls)
    found: dict[str, list[float]] = {side: [] for side in order}
    for _ in range(rounds):
        order.reverse()
        for side in order:
            found[side].append(timed(calls[side], number) * 1e6)
    return found


def timed(call: Callable[[], Tensor], number: int) -> float:
    """Seconds of this thread for one call."""
    return timeit.timeit(call, timer=time.thread_time, number=number) / number


def main() -> None:
    """Print a row for each operator and size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.npu", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"{'operator':<16}{'elements':>10}{'cpu us':>10}{'npu us':>10}{'npu / cpu':>11}")
    for edge in EDGES:
        x = torch.randn(edge, edge)
        for name, statement in STATEMENTS.items():
            calls: dict[str, Callable[[], Tensor]] = {
                side: partial(statement, x.to(side)) for side in ("cpu", "npu")
            }
            if not torch.equal(calls["npu"]().cpu(), calls["cpu"]()):
                raise SystemExit(f"{name}: the devices disagree")
            found = measured(calls, rounds)
            cpu, npu = (statistics.median(found[side]) for side in ("cpu", "npu"))
            ratio = statistics.median(
                b / a for a, b in zip(found["cpu"], found["npu"], strict=True)
            )
            print(f"{name:<16}{edge**2:>10}{cpu:>10.2f}{npu:>10.2f}{ratio:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
