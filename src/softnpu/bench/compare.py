# SPDX-License-Identifier: Apache-2.0
"""Two runs against each other: what became slower, or faster, by more than the noise of both."""

from __future__ import annotations

from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softnpu.bench.report import duration
from softnpu.bench.results import BUSY, Results, Row

# Less than this is not worth a look, however quiet both runs were.
LEAST = 1.05


@dataclass(frozen=True)
class Change:
    """One case in both runs. ``factor`` is how many times slower it is now."""

    id: str
    measure: str
    before: float
    now: float
    factor: float
    noise: float

    @property
    def slower(self) -> bool:
        """Whether it is slower beyond the noise of both runs."""
        return self.factor > max(LEAST, self.noise)

    @property
    def faster(self) -> bool:
        """Whether it is faster beyond the noise of both runs."""
        return 1 / self.factor > max(LEAST, self.noise)


def changes(before: Results, now: Results) -> list[Change]:
    """Compare the cases that both runs have, the slowed ones first.

    Ratios to the peer are compared where both runs have them: they meet the load of a machine
    together. Times are compared where not. What other programs disturbed in either run is left out.
    """
    old = {row.id: row for row in before.rows if row.busy <= BUSY}
    found = [_change(old[row.id], row) for row in now.rows if row.id in old and row.busy <= BUSY]
    return sorted(found, key=lambda change: -change.factor)


def unlike(before: Results, now: Results) -> list[str]:
    """Say what else than softnpu differs between the runs, so that nobody takes it for the same."""
    pairs = [
        (name, old.get(name, "none"), new.get(name, "none"))
        for old, new, names in (
            (before.machine, now.machine, ("cpu", "isa", "threads")),
            (before.versions, now.versions, ("torch", "numpy", "python")),
        )
        for name in names
    ]
    return [f"{name}: {old} before, {new} now" for name, old, new in pairs if old != new]


def show(console: Console, before: Results, now: Results) -> None:
    """Print what changed beyond the noise."""
    found = changes(before, now)
    for difference in unlike(before, now):
        console.print(Text(difference, style="yellow"))
    slower = [change for change in found if change.slower]
    faster = [change for change in reversed(found) if change.faster]
    for title, rows in (("slower than before", slower), ("faster than before", faster)):
        if rows:
            console.print(Text(title, style="bold"))
            console.print(_table(rows))
    text = f"{len(found)} cases compared: {len(slower)} slower, {len(faster)} faster beyond noise"
    console.print(Text(text))


def _change(old: Row, new: Row) -> Change:
    # Noises of two runs multiply: either may have erred, in either direction.
    noise = old.noise * new.noise
    if old.ratio is not None and new.ratio is not None:
        return Change(new.id, "ratio", old.ratio, new.ratio, old.ratio / new.ratio, noise)
    was, is_now = old.softnpu.median, new.softnpu.median
    return Change(new.id, "time", was, is_now, is_now / was, noise)


def _table(rows: list[Change]) -> Table:
    table = Table("case", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("before", "now", "slower by", "noise"):
        table.add_column(name, justify="right", no_wrap=True)
    for change in rows:
        ratios = change.measure == "ratio"
        values = [
            f"{value:.2f}x" if ratios else duration(value) for value in (change.before, change.now)
        ]
        table.add_row(change.id, *values, f"{change.factor:.2f}x", f"{change.noise:.2f}")
    return table
