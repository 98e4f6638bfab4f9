# SPDX-License-Identifier: Apache-2.0
"""``softnpu run --stats``: a table of the time that the program's operators took."""

from __future__ import annotations

import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softnpu.cli.child import run_to_its_end
from softnpu.cli.output import PIPE_WIDTH

# The maximum bytes of a copy. Larger copies are slow on machines with little memory.
_LARGEST = 256 << 20
_SMALLEST = 64 << 10
# From this size on, all threads copy.
_SHARED = 1 << 20
# The minimum bytes of a round, and the number of rounds.
_MOVED = 128 << 20
_ROUNDS = 7


@dataclass(frozen=True)
class Row:
    """The time that one operator, copy or fill took in one process."""

    what: str
    kind: str
    count: int
    failed: int
    total_ns: int
    median_ns: int
    bytes: int

    @property
    def gb_per_s(self) -> float:
        """The bytes read and written in each nanosecond."""
        return self.bytes / self.total_ns


@dataclass(frozen=True)
class Process:
    """The rows of one process, the longest total time first."""

    pid: int
    program: str
    rows: list[Row]


def run_with_stats(command: list[str], environment: dict[str, str]) -> int:
    """Run a program and show its statistics; return its status as run_to_its_end does."""
    with tempfile.TemporaryDirectory(prefix="softnpu-stats-") as folder:
        file = Path(folder) / "stats"
        status = run_to_its_end(command, {**environment, "SOFTNPU_STATS": str(file)})
        processes = read_stats(file)
    show_stats(processes)
    return status


def read_stats(file: Path) -> list[Process]:
    """Read the statistics that the processes of a program wrote, if any."""
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return []
    return [_process(json.loads(line)) for line in lines]


def _process(found: dict[str, Any]) -> Process:
    rows = sorted((Row(**row) for row in found["rows"]), key=lambda row: -row.total_ns)
    return Process(found["pid"], found["program"], rows)


def show_stats(processes: list[Process]) -> None:
    """Print a table for each process to stderr, separate from the program's results.

    The bandwidth of copies is measured now, after the program has ended.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    if not processes:
        console.print(Text("softnpu: no statistics: nothing ran, or a signal ended the program"))
    ceilings = _Ceilings()
    for process in processes:
        if len(processes) > 1:
            console.print(Text(f"{process.program} (process {process.pid})", style="bold"))
        console.print(_table(process.rows, ceilings))


def _table(rows: list[Row], ceilings: _Ceilings) -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("operator", no_wrap=True)
    for title in ("count", "failed", "total ms", "median ms", "MB", "GB/s", "of a copy"):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(
            row.what,
            str(row.count),
            str(row.failed or ""),
            f"{row.total_ns / 1e6:.3f}",
            f"{row.median_ns / 1e6:.3f}",
            f"{row.bytes / 1e6:.3f}",
            f"{row.gb_per_s:.3f}" if row.bytes else "",
            ceilings.share(row) if row.bytes else "",
        )
    return table


class _Ceilings:
    """The copy bandwidth of this machine, by the number of bytes."""

    def __init__(self) -> None:
        self._known: dict[int, float] = {}

    def share(self, row: Row) -> str:
        """Return a row's bandwidth relative to that of copies of the same number of bytes."""
        size = row.bytes // row.count
        power = 1 << max(size - 1, 0).bit_length()
        copied = min(max(power, _SMALLEST), _LARGEST)
        if copied not in self._known:
            from softnpu import _core

            self._known[copied] = copy_bandwidth(copied, _core.get_threads())
        return f"{100 * row.gb_per_s / self._known[copied]:.1f} %"


def copy_bandwidth(size: int, threads: int) -> float:
    """Measure the bandwidth of copies of ``size`` bytes in GB/s: the best of several rounds."""
    import numpy as np

    threads = threads if size >= _SHARED else 1
    part = size // 2 // threads
    pairs = [(np.ones(part, np.uint8), np.ones(part, np.uint8)) for _ in range(threads)]
    repeats = max(1, _MOVED // size)

    def copy(pair: tuple[Any, Any]) -> None:
        for _ in range(repeats):
            np.copyto(*pair)  # without the GIL

    rounds = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            list(pool.map(copy, pairs))
            rounds.append(time.perf_counter() - start)
    return 2 * part * threads * repeats / min(rounds) / 1e9
