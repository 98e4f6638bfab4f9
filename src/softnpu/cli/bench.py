# SPDX-License-Identifier: Apache-2.0
"""``softnpu bench``: how fast the operators are here, against PyTorch and against the memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softnpu.cli.output import EXIT_FAILURE, EXIT_USAGE, fail, results

if TYPE_CHECKING:
    from softnpu.bench.cases import Case
    from softnpu.bench.ceilings import Ceilings
    from softnpu.bench.results import Results


def command(
    against: Annotated[
        str, typer.Option("--against", metavar="PEER", help="Time this too: torch.")
    ] = "",
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="TEXT",
            help="Only cases whose name or class contains TEXT or matches it; repeatable.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Some forty cases of at most 1M elements.")
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="Threads for all sides; default: softnpu's."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write results.json, report.txt and pictures."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare", metavar="FILE", help="Show what is slower than in a results.json."
        ),
    ] = None,
    fail_below: Annotated[
        float,
        typer.Option(
            "--fail-below", metavar="RATIO", help="Exit 1 when a class is below RATIO of the peer."
        ),
    ] = 0.0,
    list_cases: Annotated[bool, typer.Option("--list", help="Print the names and exit.")] = False,
) -> None:
    """Time the operators, in one process, interleaved with PyTorch and with a memory triad.

    benchmarks/README.md of the source tree says how to read the tables and the file.
    """
    # Imported here, so that the other commands do not load what only this one needs.
    from softnpu.bench import cases as bench_cases
    from softnpu.bench.results import Results

    chosen = bench_cases.select(bench_cases.table(), filters or ())
    chosen = bench_cases.quick(chosen) if quick else chosen
    torch = _peer(against)
    chosen = [case for case in chosen if torch is not None or not case.needs_torch]
    if not chosen:
        fail("no case matches", EXIT_USAGE, hint="softnpu bench --list prints the names.")
    if list_cases:
        for case in chosen:
            typer.echo(case.id)
        return
    if fail_below and torch is None:
        fail("--fail-below compares with a peer", EXIT_USAGE, hint="Add: --against torch")
    before = _read(Results, compare) if compare else None
    if out is not None:
        _folder(out)
    found = _run(chosen, torch, against, threads, quick)
    _tell(found, before, out)
    judge(found, fail_below)


def _peer(name: str) -> Any:
    if not name:
        return None
    if name != "torch":
        fail(f"there is no peer {name!r}", EXIT_USAGE, hint="The only peer is torch.")
    from softnpu.bench.arrays import load_torch

    try:
        return load_torch()
    except ImportError:
        fail("--against torch needs PyTorch", hint="Install it with: pip install 'softnpu[torch]'")


def _read(kind: type[Results], file: Path) -> Results:
    try:
        return kind.read(file)
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}", EXIT_USAGE)
    except (ValueError, KeyError, TypeError) as error:
        fail(f"{file} is not a result of softnpu bench: {error}", EXIT_USAGE)


def _run(chosen: list[Case], torch: Any, against: str, threads: int | None, quick: bool) -> Results:
    from softnpu import _core
    from softnpu.bench import machine, native, runner, session
    from softnpu.bench.arrays import Arrays
    from softnpu.bench.results import Results

    count = threads or _core.get_threads()
    _core.set_threads(count)
    if torch is not None:
        torch.set_num_threads(count)
    plan = runner.QUICK if quick else runner.Plan()
    with _progress() as progress:
        measured = _ceilings(count, quick, torch is None, progress)
        bench = session.Session(Arrays(torch), measured, plan)
        rows, skipped = [], []
        task = progress.add_task("cases", total=len(chosen))
        for case in chosen:
            progress.update(task, description=case.id, refresh=True)
            if bench.fits(case):
                try:
                    rows.append(bench.run(case))
                except session.DisagreementError as error:
                    fail(str(error))
            else:
                skipped.append(case.id)
            progress.update(task, advance=1, refresh=True)
    native.release()
    settings = {"against": against, "threads": count, "quick": quick}
    return Results(
        machine.describe(count),
        machine.versions(),
        settings,
        measured.as_json(),
        rows,
        None if quick else session.import_time(),
        skipped,
    )


def _ceilings(threads: int, quick: bool, huge_pages: bool, progress: Any) -> Ceilings:
    from softnpu.bench import ceilings

    sizes = ceilings.QUICK_SIZES if quick else ceilings.SIZES
    steps = len(sizes) * len(ceilings.loops())
    task = progress.add_task("ceilings", total=steps)
    return ceilings.measure(
        threads, sizes, huge_pages, lambda: progress.update(task, advance=1, refresh=True)
    )


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description:<58}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        # A thread that draws would take time from the cases.
        auto_refresh=False,
    )


def _folder(folder: Path) -> None:
    """Make the folder before the minutes of measuring, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"cannot make the folder {folder}: {error.strerror}", EXIT_USAGE)


def _tell(found: Results, before: Results | None, out: Path | None) -> None:
    from softnpu.bench import compare, report

    console = results()
    if out is not None:
        _write(found, out)
    report.show(console, found)
    if before is not None:
        compare.show(console, compare.changes(before, found))


def _write(found: Results, out: Path) -> None:
    from rich.console import Console

    from softnpu.bench import plots, report

    found.write(out / "results.json")
    with (out / "report.txt").open("w", encoding="utf-8") as file:
        report.show(Console(file=file, width=120, highlight=False), found)
    try:
        plots.write(found, out)
    except ImportError:
        typer.echo(
            "softnpu: no pictures without matplotlib: pip install 'softnpu[bench]'", err=True
        )


def judge(found: Results, fail_below: float) -> None:
    """End with status 1 when the geometric mean of a class is below the limit."""
    from softnpu.bench.report import class_means

    means = class_means(found.rows)
    below = [f"{group} ({mean:.2f}x)" for group, mean in means.items() if mean < fail_below]
    if below:
        fail(f"below {fail_below:g}x of the peer: {', '.join(below)}", EXIT_FAILURE)
