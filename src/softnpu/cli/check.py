# SPDX-License-Identifier: Apache-2.0
"""``softnpu check``: runs a program under the checkers."""

import signal
import sys
import tempfile
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from softnpu.cli import schedules
from softnpu.cli.child import StoppedError, exit_status, run_to_its_end
from softnpu.cli.findings import Finding, as_json, as_sarif, read_findings, show
from softnpu.cli.operators import OperatorsOption
from softnpu.cli.output import EXIT_USAGE, fail
from softnpu.cli.run import (
    FailOption,
    FileArgument,
    FlagsOption,
    Program,
    ProgramArguments,
    ScheduleOption,
    SchedulesOption,
    command_line,
    set_variables,
)
from softnpu.cli.suppressions import Suppression, read_suppressions

TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck", "leakcheck")

FINDINGS_STATUS = 86


class Format(str, Enum):
    """The format of the findings."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def command(
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
    leakcheck, memory and handles that are never freed. --schedules N stops at the first run with a
    finding, or whose output differs from the first run's.

    The exit status is 86 if there are findings, otherwise the program's.
    """
    _check_tools(tool)
    set_variables(schedule, count, faults)
    known = read_suppressions(suppressions) if suppressions is not None else []
    try:
        with command_line(file, args or [], cxxflags, operators) as program:
            status, findings = _checked(program, tool, count, known)
    except typer.Exit as ended:
        # Writes a report anyway, for jobs that upload it, with the reason why it is empty.
        if form is Format.SARIF:
            why = "the program did not compile or start"
            _write(as_sarif([], ended.exit_code, why), output)
        raise
    failure = ""
    if status > 128:
        failure = f"the program was ended by signal {status - 128}, {_signal_name(status - 128)}"
        typer.echo(f"softnpu: {failure}", err=True)
    if form is Format.TEXT:
        _show(findings, output, fold_leaks=tool == "all" and status != 0)
    elif form is Format.JSON:
        _write(as_json(findings), output)
    else:
        _write(as_sarif(findings, status, failure), output)
    raise typer.Exit(error_exitcode if findings else status)


def _signal_name(number: int) -> str:
    """Return the name of a signal, if this system has one with that number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "which has no name"


def _checked(
    program: Program, tool: str, count: int, known: list[Suppression]
) -> tuple[int, list[Finding]]:
    """Run the program, once or under schedules; return its exit status and the findings."""
    with tempfile.TemporaryDirectory(prefix="softnpu-check-") as folder:
        report = Path(folder) / "findings"
        environment = {
            **program.environment,
            "SOFTNPU_CHECK": tool,
            "SOFTNPU_CHECK_REPORT": str(report),
            "SOFTNPU_CHECK_EXITCODE": "0",
        }

        def found() -> list[Finding]:
            return [f for f in read_findings(report) if not any(one.matches(f) for one in known)]

        if count:
            status = _run_all(program.words, environment, count, found)
        else:
            status = exit_status(run_to_its_end(program.words, environment))
        return status, found()


def _run_all(
    words: list[str],
    environment: dict[str, str],
    count: int,
    found: Callable[[], list[Finding]],
) -> int:
    """Run the program under schedules until one causes a finding or a different result."""
    try:
        eager = schedules.outcome(words, environment, "eager")
        eager.show()
        if eager.status or found():
            return eager.status or 0
        end = schedules.first_difference(
            words,
            environment,
            eager,
            range(1, count + 1),
            lambda: "the checkers found something" if found() else "",
        )
    except StoppedError as stopped:
        return stopped.exit_code
    if end is None:
        return 0
    sys.stderr.buffer.write(end.outcome.stderr)
    typer.echo(f"softnpu: random:{end.seed}: {end.what}; --schedule replays it", err=True)
    return end.status


def _check_tools(names: str) -> None:
    unknown = [name for name in names.split(",") if name not in (*TOOLS, "all")]
    if unknown or (names != "all" and "all" in names):
        fail(f"--tool is {names!r}; expected all, or some of {','.join(TOOLS)}", EXIT_USAGE)


def _show(findings: list[Finding], output: Path | None, fold_leaks: bool) -> None:
    if output is None:
        show(findings, Console(stderr=True, highlight=False, width=None), fold_leaks)
        return
    with output.open("w", encoding="utf-8") as file:
        show(findings, Console(file=file, highlight=False, width=240), fold_leaks)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
