# SPDX-License-Identifier: Apache-2.0
"""``softnpu bench``: how fast the operators are here, against PyTorch and against the memory."""

from __future__ import annotations

import io
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softnpu.cli.output import EXIT_FAILURE, EXIT_USAGE, JsonOption, fail, print_json, results

if TYPE_CHECKING:
    from rich.progress import Progress

    from softnpu.bench.cases import Case
    from softnpu.bench.ceilings import Ceilings
    from softnpu.bench.results import Results, Row
    from softnpu.bench.session import Session

AgainstOption = Annotated[
    str, typer.Option("--against", metavar="PEER", help="Time this too: torch.")
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="TEXT",
        help="Only cases whose name or class contains TEXT, or matches it as a glob; repeatable.",
    ),
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="Some forty cases of at most 1M elements.")
]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", min=1, max=1024, help="Threads for all sides; default: softnpu's."),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write results.json, report.txt and pictures."),
]
CompareOption = Annotated[
    Path | None,
    typer.Option(
        "--compare", metavar="FILE", help="Show what is slower or faster than in a results.json."
    ),
]
FailBelowOption = Annotated[
    float,
    typer.Option(
        "--fail-below",
        metavar="RATIO",
        help="Exit 1 when a class is below RATIO times the speed of --against's peer.",
    ),
]
ListOption = Annotated[bool, typer.Option("--list", help="Print the names and exit.")]


REPORT_WIDTH = 140  # of report.txt, whose tables should not be cut


# The other commands must not load what only this one needs: imports wait inside the functions.
def command(
    against: AgainstOption = "",
    filters: FilterOption = None,
    quick: QuickOption = False,
    threads: ThreadsOption = None,
    out: OutOption = None,
    compare: CompareOption = None,
    fail_below: FailBelowOption = 0.0,
    list_cases: ListOption = False,
    as_json: JsonOption = False,
) -> None:
    """Time the operators, in one process, interleaved with PyTorch and with a memory triad.

    benchmarks/README.md of the source tree says how to read the tables and the file.
    """
    # A comparison with NaN would never fail.
    if not 0 <= fail_below < math.inf:
        fail(f"--fail-below is {fail_below:g}; it must be a ratio of 0 or more", EXIT_USAGE)
    torch = _peer(against)
    chosen = _choose(filters or [], quick, torch)
    if list_cases:
        _list(chosen, as_json)
        return
    if as_json:
        fail("--json goes with --list", EXIT_USAGE, hint="A run's results.json is in --out DIR.")
    if fail_below and torch is None:
        fail("--fail-below compares with a peer", EXIT_USAGE, hint="Add: --against torch")
    before = _read(compare) if compare else None
    if out is not None:
        _prepare_folder(out)
    settings = {"against": against, "threads": _use_threads(threads, torch), "quick": quick}
    found = _run(chosen, torch, settings)
    _tell(found, before, out)
    judge(found, fail_below)


def _list(chosen: list[Case], as_json: bool) -> None:
    if not as_json:
        typer.echo("\n".join(case.id for case in chosen))
        return
    keys = ("operator", "variant", "dtype", "layout", "size", "elements", "bytes")
    print_json(
        [
            {"id": case.id, "class": case.group, **{key: getattr(case, key) for key in keys}}
            for case in chosen
        ]
    )


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


def _choose(filters: list[str], quick: bool, torch: Any) -> list[Case]:
    from softnpu.bench import cases

    chosen = cases.select(cases.table(), filters)
    chosen = cases.quick(chosen) if quick else chosen
    chosen = [case for case in chosen if torch is not None or not case.needs_torch]
    if not chosen:
        listing = "softnpu bench --list"
        listing += (" --quick" if quick else "") + (" --against torch" if torch else "")
        fail("no case matches", EXIT_USAGE, hint=f"{listing} prints the names.")
    return chosen


def _read(file: Path) -> Results:
    from softnpu.bench.results import Results

    try:
        return Results.read(file)
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}", EXIT_USAGE)
    except (ValueError, TypeError) as error:
        fail(f"{file} is not a result of softnpu bench: {error}", EXIT_USAGE)


def _prepare_folder(folder: Path) -> None:
    """Make the folder and see that results can be written, before the minutes of measuring."""
    from softnpu.bench.plots import FILES

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for file in (folder / name for name in ("results.json", "report.txt", *FILES)):
            if file.exists():
                file.open("a").close()
    except OSError as error:
        where = error.filename if error.filename and Path(error.filename).exists() else folder
        fail(f"cannot write to {where}: {error.strerror}", EXIT_USAGE)


def _use_threads(wanted: int | None, torch: Any) -> int:
    """Give all sides the same number of threads, and say how many."""
    from softnpu import _core

    count = wanted or _core.get_threads()
    _core.set_threads(count)
    if torch is not None:
        torch.set_num_threads(count)
    return count


def _run(chosen: list[Case], torch: Any, settings: dict[str, Any]) -> Results:
    from softnpu.bench import machine, native, runner, session
    from softnpu.bench.arrays import Arrays
    from softnpu.bench.results import Results

    threads, quick = settings["threads"], settings["quick"]
    plan = runner.QUICK if quick else runner.Plan()
    with _progress() as progress:
        ceilings = _ceilings(threads, quick, torch is None, progress)
        bench = session.Session(Arrays(torch), ceilings, plan)
        rows, skipped = _time(bench, chosen, progress)
    native.release()
    return Results(
        machine=machine.describe(threads),
        versions=machine.versions(),
        settings=settings,
        ceilings=ceilings.as_json(),
        rows=rows,
        import_time=None if quick else session.import_time(),
        skipped=skipped,
    )


def _time(bench: Session, chosen: list[Case], progress: Progress) -> tuple[list[Row], list[str]]:
    """Time each case; give the rows, and the names of cases that there is no memory for."""
    from softnpu.bench.session import DisagreementError

    rows, skipped = [], []
    task = progress.add_task("cases", total=len(chosen))
    for case in chosen:
        progress.update(task, description=case.id, refresh=True)
        if bench.fits(case):
            try:
                rows.append(bench.run(case))
            except DisagreementError as error:
                fail(str(error))
        else:
            skipped.append(case.id)
        progress.update(task, advance=1, refresh=True)
    return rows, skipped


def _ceilings(threads: int, quick: bool, huge_pages: bool, progress: Progress) -> Ceilings:
    from softnpu.bench import ceilings

    sizes = ceilings.QUICK_SIZES if quick else ceilings.SIZES
    steps = len(sizes) * len(ceilings.loops())
    task = progress.add_task("ceilings", total=steps)
    return ceilings.measure(
        threads, sizes, huge_pages, lambda: progress.update(task, advance=1, refresh=True)
    )


def _progress() -> Progress:
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


def _tell(found: Results, before: Results | None, out: Path | None) -> None:
    from softnpu.bench import compare, report

    console = results()
    try:
        if out is not None:
            _write(found, out)
    finally:  # minutes of measuring are not to be lost where nothing can be written
        report.show(console, found)
        if before is not None:
            compare.show(console, before, found)


def _write(found: Results, out: Path) -> None:
    from rich.console import Console

    from softnpu.bench import plots, report
    from softnpu.bench.results import write_whole

    found.write(out / "results.json")
    text = io.StringIO()
    report.show(Console(file=text, width=REPORT_WIDTH, highlight=False), found)
    write_whole(out / "report.txt", text.getvalue())
    try:
        plots.write(found, out)
    except ImportError:
        typer.echo(
            "softnpu: no pictures without matplotlib: pip install 'softnpu[bench]'", err=True
        )


def judge(found: Results, fail_below: float) -> None:
    """End with status 1 when the geometric mean of a class is below the limit.

    Disturbed cases have no part in it: on a busy machine nothing may be left to judge.
    """
    from softnpu.bench.report import class_means

    if not fail_below:
        return
    means = class_means(found.rows)
    if not means and all(row.ratio is None for row in found.rows):
        fail("no case has a ratio to the peer", EXIT_FAILURE)
    if not means:
        typer.echo("softnpu: other programs disturbed every case: none is judged", err=True)
    below = [f"{group} ({mean:.2f}x)" for group, mean in means.items() if mean < fail_below]
    if below:
        fail(f"below {fail_below:g}x of the peer: {', '.join(below)}", EXIT_FAILURE)
