# SPDX-License-Identifier: Apache-2.0
"""``softnpu run --stats``: what the program's operators took, as a table."""

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

# Bytes that are copied for a ceiling. More would take long on machines with little memory.
_LARGEST = 256 << 20
_SMALLEST = 64 << 10
# From here on, all threads copy.
_SHARED = 1 << 20
# The bytes that a round moves at least, and the rounds.
_MOVED = 128 << 20
_ROUNDS = 7


@dataclass(frozen=True)
class Row:
    """What one operator, copy or fill took in one process."""

    what: str
    kind: str
    count: int
    failed: int
    total_ns: int
    median_ns: int
    bytes: int

    @property
    def gb_per_s(self) -> float:
        """The bytes that were read and written in a nanosecond of it."""
        return self.bytes / self.total_ns


@dataclass(frozen=True)
class Process:
    """The rows of one process, the ones that took longest first."""

    pid: int
    program: str
    rows: list[Row]


def run_with_stats(command: list[str], environment: dict[str, str]) -> int:
    """Run a program and show what its operators took; give its status as run_to_its_end does."""
    with tempfile.TemporaryDirectory(prefix="softnpu-stats-") as folder:
        file = Path(folder) / "stats"
        status = run_to_its_end(command, {**environment, "SOFTNPU_STATS": str(file)})
        processes = read_stats(file)
    show_stats(processes)
    return status


def read_stats(file: Path) -> list[Process]:
    """Read what the processes of a program have written; nothing where they wrote nothing."""
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return []
    return [_process(json.loads(line)) for line in lines]


def _process(found: dict[str, Any]) -> Process:
    rows = sorted((Row(**row) for row in found["rows"]), key=lambda row: -row.total_ns)
    return Process(found["pid"], found["program"], rows)


def show_stats(processes: list[Process]) -> None:
    """Print a table for each process to stderr, where it does not mix with the program's results.

    The bandwidth of copies is measured now, when the program is done.
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
    """How fast this machine copies, by the number of bytes."""

    def __init__(self) -> None:
        self._known: dict[int, float] = {}

    def share(self, row: Row) -> str:
        """Give the bandwidth of a row as a share of that of copies which move as many bytes."""
        size = row.bytes // row.count
        power = 1 << max(size - 1, 0).bit_length()
        copied = min(max(power, _SMALLEST), _LARGEST)
        if copied not in self._known:
            from softnpu import _core

            self._known[copied] = copy_bandwidth(copied, _core.get_threads())
        return f"{100 * row.gb_per_s / self._known[copied]:.1f} %"


def copy_bandwidth(size: int, threads: int) -> float:
    """Measure copies that move ``size`` bytes, each byte once, in GB/s: the best of some rounds."""
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
