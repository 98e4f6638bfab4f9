# SPDX-License-Identifier: Apache-2.0
"""Tables for people: every case, the classes, the worst cases."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softnpu.bench.cases import CLASSES
from softnpu.bench.cases.case import GRID
from softnpu.bench.results import BUSY, Results, Row, geometric_mean

WORST = 12


def show(console: Console, results: Results) -> None:
    """Print the whole report; what matters most comes last, where a terminal ends."""
    console.print(Text(heading(results), style="bold"), soft_wrap=True)
    console.print(_cases(results.rows))
    console.print(Text("ceilings, GB/s", style="bold"))
    console.print(_ceilings(results))
    compared = judged(results.rows)
    if compared:
        worst = sorted(compared, key=lambda row: row.ratio or 0)[:WORST]
        console.print(Text("the worst against the peer", style="bold"))
        console.print(_cases(worst))
        console.print(Text("geometric mean / worst against the peer", style="bold"))
        console.print(_classes(compared))
    for line in summary(results):
        console.print(Text(line), soft_wrap=True)


def heading(results: Results) -> str:
    """Say in one line what was measured where."""
    cpu, isa, threads = (results.machine.get(name) for name in ("cpu", "isa", "threads"))
    several = "thread" if threads == 1 else "threads"
    versions = ", ".join(f"{name} {value}" for name, value in results.versions.items())
    return f"{cpu}, {isa}, {threads} {several}; {versions}"


def summary(results: Results) -> list[str]:
    """Say the whole in a few lines, the bad ones included."""
    lines = []
    compared = judged(results.rows)
    if compared:
        ratios = [row.ratio or 0 for row in compared]
        mean = geometric_mean(ratios)
        lines.append(
            f"{len(compared)} cases against {results.settings.get('against')}: {mean:.2f}x"
        )
        below = [row for row in compared if (row.ratio or 0) < 1]
        beyond = [row for row in below if row.slower]
        lines.append(f"{len(below)} of them below 1x, {len(beyond)} beyond their noise")
        lines += [f"  {row.id} {row.ratio:.2f}x, noise {row.noise:.2f}" for row in beyond]
        noises = sorted(row.noise for row in compared)
        middle, most = noises[len(noises) // 2], noises[-1]
        lines.append(f"noise of two identical runs: {middle:.3f} in the middle, {most:.2f} at most")
    disturbed = [row for row in results.rows if row.busy > BUSY]
    if disturbed:
        most = max(row.busy for row in disturbed)
        lines.append(
            f"THE MACHINE WAS BUSY: in {len(disturbed)} of {len(results.rows)} cases other programs"
            f" had more than {BUSY:.0%} of it (up to {most:.0%}); these are not in the means"
        )
    if results.import_time:
        lines.append(f"import softnpu after numpy: {results.import_time['median_ms']:.1f} ms")
    if results.skipped:
        lines.append(f"left out for want of memory: {', '.join(results.skipped)}")
    return lines


def class_means(rows: Iterable[Row]) -> dict[str, float]:
    """Give the geometric mean of each class that has ratios to be judged by."""
    means = {}
    found = judged(rows)
    for group in CLASSES:
        ratios = [row.ratio or 0 for row in found if row.group == group]
        if ratios:
            means[group] = geometric_mean(ratios)
    return means


def judged(rows: Iterable[Row]) -> list[Row]:
    """Keep the rows with a ratio that other programs did not disturb.

    OpenMP waits for a thread that has lost its processor far longer than softnpu does, so disturbed
    ratios flatter.
    """
    return [row for row in rows if row.ratio is not None and row.busy <= BUSY]


def _cases(rows: Iterable[Row]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("case", overflow="fold")
    for name in ("time", "peer", "GB/s", "share", "ratio", "noise", "spread", "busy"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.id,
            duration(row.softnpu.median),
            duration(row.peer.median) if row.peer else "",
            _number(row.gb_per_s, ".1f"),
            _number(row.share, ".0%"),
            _ratio(row),
            f"{row.noise:.2f}",
            f"{row.softnpu.spread:.0%}",
            f"{row.busy:.0%}" if row.busy > BUSY else "",
        )
    return table


def _ratio(row: Row) -> Text:
    if row.ratio is None:
        return Text("")
    style = "bold red" if row.slower else "yellow" if row.ratio < 1 else ""
    return Text(f"{row.ratio:.2f}x", style=style)


def _classes(rows: list[Row]) -> Table:
    # Other sizes have a case or two of a class, which the table of all cases has.
    sizes = [size for size in GRID if any(row.size == size for row in rows)]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("class", min_width=12)
    for name in [*sizes, "all"]:
        table.add_column(name, justify="right", no_wrap=True)
    for group in [*CLASSES, "all"]:
        here = [row for row in rows if group in (row.group, "all")]
        if here:
            cells = [_cell([row for row in here if row.size == size]) for size in sizes]
            table.add_row(group, *cells, _cell(here), end_section=group == CLASSES[-1])
    return table


def _cell(rows: list[Row]) -> str:
    ratios = [row.ratio for row in rows if row.ratio is not None]
    return f"{geometric_mean(ratios):.2f} / {min(ratios):.2f}" if ratios else ""


def _ceilings(results: Results) -> Table:
    table = Table("working set", box=SIMPLE_HEAD, pad_edge=False)
    columns: dict[str, None] = {}
    cells: dict[int, dict[str, float]] = {}
    for row in results.ceilings:
        name = row["kind"] + (", streaming" if row["streaming"] else "")
        columns[name] = None
        cells.setdefault(row["bytes"], {})[name] = row["gb_per_s"]
    for name in columns:
        table.add_column(name, justify="right")
    for size, speeds in cells.items():
        table.add_row(
            f"{size / (1 << 20):g} MiB", *(_number(speeds.get(c), ".1f") for c in columns)
        )
    return table


def duration(seconds: float) -> str:
    """Write a time with the unit that fits it."""
    for unit, factor in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
