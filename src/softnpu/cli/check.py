# SPDX-License-Identifier: Apache-2.0
"""``softnpu check``: runs a program under the checkers."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from softnpu.cli import schedules
from softnpu.cli.child import StoppedError, exit_status, run_to_its_end, signal_of
from softnpu.cli.findings import Finding, read_findings, show
from softnpu.cli.operators import OperatorsOption
from softnpu.cli.output import EXIT_USAGE, PIPE_WIDTH, fail
from softnpu.cli.reports import Report, as_json, as_sarif, ended_by
from softnpu.cli.run import (
    FailOption,
    FileArgument,
    FlagsOption,
    Program,
    ProgramArguments,
    ScheduleOption,
    SchedulesOption,
    command_line,
    program_arguments,
    set_variables,
)
from softnpu.cli.suppressions import Suppression, read_suppressions

TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck", "leakcheck", "apicheck")

FINDINGS_STATUS = 86


class Format(str, Enum):
    """The format of the findings."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def command(
    context: typer.Context,
    file: FileArgument,
    args: ProgramArguments = None,
    tool: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Checkers, with commas: {', '.join(TOOLS)}.")
    ] = "all",
    form: Annotated[
        Format,
        typer.Option("--format", help="Text goes to stderr, the others to stdout or --output."),
    ] = Format.TEXT,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings there.")
    ] = None,
    suppressions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Findings to leave out: lines of TOOL/KIND [WHERE]."),
    ] = None,
    error_exitcode: Annotated[
        int, typer.Option(min=0, max=255, metavar="N", help="Exit status when there are findings.")
    ] = FINDINGS_STATUS,
    cxxflags: FlagsOption = "",
    operators: OperatorsOption = None,
    schedule: ScheduleOption = "",
    count: SchedulesOption = 0,
    faults: FailOption = None,
) -> None:
    """Run a program as softnpu run does, and report what it does wrong.

    The checkers observe every allocation, handle, launch and event. memcheck finds accesses to
    memory that is unallocated or in use; initcheck, reads of memory that was never written;
    racecheck and synccheck, missing order between streams, and between streams and the host;
    leakcheck, memory and handles that are never freed; apicheck, calls that fail. --schedules N
    stops at the first run with a finding, or whose output differs from the first run's.

    The exit status is 86 if there are findings, otherwise the program's.
    """
    _check_tools(tool)
    set_variables(schedule, count, faults)
    words = program_arguments(context, args)
    known = read_suppressions(suppressions, TOOLS) if suppressions is not None else []
    with _opened(output) as written:
        # The document has stdout for itself.
        stdout = None if form is Format.TEXT or written else sys.stderr
        try:
            with command_line(file, words, cxxflags, operators) as program:
                status, number, findings = _checked(program, tool, count, known, stdout)
        except typer.Exit as ended:
            # Writes a document anyway, for jobs that upload it, with the reason why it is empty.
            if form is not Format.TEXT:
                why = "the program did not compile or start"
                _write(Report(file, [], ended.exit_code, why), form, written)
            raise
        failure = ended_by(number) if number else ""
        if failure:
            typer.echo(f"softnpu: {failure}", err=True)
        fold_leaks = tool == "all" and status != 0
        _write(Report(file, findings, status, failure, fold_leaks), form, written)
    raise typer.Exit((error_exitcode or status) if findings else status)


def _checked(
    program: Program, tool: str, count: int, known: list[Suppression], stdout: TextIO | None
) -> tuple[int, int, list[Finding]]:
    """Run the program, once or under schedules.

    Returns its exit status, the signal that ended it or 0, and the findings.
    """
    with tempfile.TemporaryDirectory(prefix="softnpu-check-") as folder:
        report = Path(folder) / "findings"
        environment = {
            **program.environment,
            **_preloaded(program.environment),
            "SOFTNPU_CHECK": tool,
            "SOFTNPU_CHECK_REPORT": str(report),
            "SOFTNPU_CHECK_EXITCODE": "0",
        }

        def found() -> list[Finding]:
            return [f for f in read_findings(report) if not any(one.matches(f) for one in known)]

        if count:
            status, number = _run_all(program.words, environment, count, found, stdout)
        else:
            returned = run_to_its_end(program.words, environment, stdout)
            status, number = exit_status(returned), signal_of(returned)
        return status, number, found()


def _preloaded(environment: dict[str, str]) -> dict[str, str]:
    """Preload what tells the checkers of the C library's failures, if anything is preloaded."""
    before = environment.get("LD_PRELOAD", "").split(":")
    helper = next((file for file in before if file.endswith("/libmissing.so")), None)
    if helper is None:  # a sanitizer must be loaded before others
        return {}
    return {"LD_PRELOAD": ":".join([*before, str(Path(helper).with_name("libchecked.so"))])}


def _run_all(
    words: list[str],
    environment: dict[str, str],
    count: int,
    found: Callable[[], list[Finding]],
    stdout: TextIO | None,
) -> tuple[int, int]:
    """Run the program under schedules until one causes a finding or a different result."""
    try:
        eager = schedules.outcome(words, environment, "eager")
        eager.show(stdout)
        if eager.status or found():
            return eager.status or 0, eager.signal
        end = schedules.first_difference(
            words,
            environment,
            eager,
            range(1, count + 1),
            lambda: "the checkers found something" if found() else "",
        )
    except StoppedError as stopped:
        return stopped.exit_code, 0
    if end is None:
        return 0, 0
    sys.stderr.buffer.write(end.outcome.stderr)
    typer.echo(f"softnpu: random:{end.seed}: {end.what}; --schedule replays it", err=True)
    return end.status, end.outcome.signal


def _check_tools(names: str) -> None:
    unknown = [name for name in names.split(",") if name not in (*TOOLS, "all")]
    if unknown or (names != "all" and "all" in names):
        fail(f"--tool is {names!r}; expected all, or some of {','.join(TOOLS)}", EXIT_USAGE)


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO | None]:
    """Open the file for the findings before the program runs, so that none is lost."""
    if output is None:
        yield None
        return
    try:
        file = output.open("w", encoding="utf-8")
    except OSError as error:
        fail(f"--output: cannot write {output}: {error.strerror}", EXIT_USAGE)
    with file:
        yield file


def _write(report: Report, form: Format, file: TextIO | None) -> None:
    if form is Format.TEXT:
        from rich.console import Console

        width = None if file is None else PIPE_WIDTH
        console = Console(file=file, stderr=file is None, highlight=False, width=width)
        show(report.findings, console, report.fold_leaks)
        return
    text = as_json(report) if form is Format.JSON else as_sarif(report)
    (file or sys.stdout).write(text)
