# SPDX-License-Identifier: Apache-2.0
"""``softnpu run``: runs a source file, script or executable with softnpu's libraries."""

import contextlib
import os
import shlex
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from softnpu.cli import schedules
from softnpu.cli.cache import compiled
from softnpu.cli.child import end_as, run_to_its_end
from softnpu.cli.environment import program_environment, sdk_prefix
from softnpu.cli.operators import (
    OperatorsOption,
    checked_folders,
    with_folders,
    with_operators,
)
from softnpu.cli.output import EXIT_NOT_RUNNABLE, EXIT_USAGE, fail
from softnpu.cli.toolchain import LANGUAGES, as_argument, toolchain_for

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A C or C++ source file, a Python script, or an executable."
    ),
]
ProgramArguments = Annotated[
    list[str] | None, typer.Argument(metavar="[--] ARGS", help="The program's arguments.")
]
FlagsOption = Annotated[
    str,
    typer.Option("--cxxflags", metavar="FLAGS", help="More flags for the compiler, in one string."),
]
TraceOption = Annotated[
    Path | None,
    typer.Option("--trace", metavar="OUT", help="Write a trace for Perfetto or chrome://tracing."),
]
StatsOption = Annotated[
    bool, typer.Option("--stats", help="Print how often each operator ran, and for how long.")
]
ScheduleOption = Annotated[
    str,
    typer.Option(
        "--schedule",
        metavar="SCHEDULE",
        help="When streams run their work: eager, deferred, random or random:SEED.",
    ),
]
SchedulesOption = Annotated[
    int,
    typer.Option(
        "--schedules",
        metavar="N",
        min=0,
        help="Run the program with N random schedules, too, and compare what it does.",
    ),
]
FailOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        metavar="SPEC",
        help="Have the Nth call of a kind fail: KIND:N, KIND:N:CODE or rate:P:SEED; repeatable.",
    ),
]

ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain-missing",
        help="Tell which functions of the toolkit the program needs and does not find.",
    ),
]

# O_NONBLOCK, so that opening a pipe does not wait for its reader.
_EMPTYING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True)
class Program:
    """A program to run: its command line, its environment, and whether its file is permanent."""

    words: list[str]
    environment: dict[str, str]
    stays: bool = True


def command(
    context: typer.Context,
    file: FileArgument,
    args: ProgramArguments = None,
    cxxflags: FlagsOption = "",
    trace: TraceOption = None,
    stats: StatsOption = False,
    schedule: ScheduleOption = "",
    count: SchedulesOption = 0,
    faults: FailOption = None,
    explain_missing: ExplainOption = False,
    operators: OperatorsOption = None,
) -> None:
    """Run a program on the emulated device.

    C and C++ sources are compiled with the system's compiler first. The 100 programs that were run
    last are kept, in softnpu/programs of $XDG_CACHE_HOME, which is ~/.cache where it is not set,
    unless other users can write there.
    $CXX, $CXXFLAGS (for C: $CC, $CFLAGS), $CPPFLAGS and $LDFLAGS are honoured.
    In Python scripts, import acl imports softnpu.acl.

    The exit status is the program's, or the compiler's when that fails; 127 when there is no
    compiler, 126 when FILE cannot be run, 2 when there is no such file.
    """
    set_variables(schedule, count, faults)
    if count and (stats or explain_missing or trace is not None):
        others = "--trace, --stats or --explain-missing"
        fail(f"--schedules is not used together with {others}", EXIT_USAGE)
    is_answered = not explain_missing
    words = program_arguments(context, args)
    with command_line(file, words, cxxflags, operators, is_answered) as program:
        if count:
            replay = _replay(cxxflags, faults or [], operators or [])
            _compare(program, count, replay, [str(file), *(args or [])])
        if trace is not None:
            program.environment["SOFTNPU_TRACE"] = str(_emptied(trace))
        status = _run(program, explain_missing, stats)
    end_as(status)


def _run(program: Program, explain_missing: bool, stats: bool) -> int:
    """Become the program, unless there is work to do afterwards; then return its status."""
    words, environment = program.words, program.environment
    if explain_missing or environment.get("SOFTNPU_VERBOSE") == "1":
        from softnpu.cli.missing import explained

        return explained(words, environment, sdk_prefix(), explain_missing, _runner(stats))
    if program.stays and not stats:
        _become(words, environment)
    return _runner(stats)(words, environment)


def set_variables(schedule: str, count: int, faults: list[str] | None) -> None:
    """Check the options that change how a program runs, and set their variables."""
    if schedule:
        os.environ[schedules.VARIABLE] = schedules.checked_schedule(schedule)
    if count and schedule:
        fail("--schedules is not used together with --schedule", EXIT_USAGE)
    if faults:
        os.environ["SOFTNPU_FAIL"] = _checked_faults(",".join(faults))


@contextlib.contextmanager
def command_line(
    file: Path,
    args: list[str],
    cxxflags: str,
    operators: list[Path] | None = None,
    is_answered: bool = True,
) -> Iterator[Program]:
    """Compile the file if necessary; return the program to run.

    If ``is_answered``, operators that softnpu lacks are answered by a status code.
    """
    existing_file(file)
    prefix = sdk_prefix()
    folders = checked_folders(operators)
    environment = with_folders(program_environment(prefix), folders)
    with _runnable(file, args, environment, cxxflags, folders) as program:
        if not is_answered:
            yield program
            return
        from softnpu.cli.absent import answered

        with answered(program, prefix, is_script=file.suffix == ".py") as complete:
            yield complete


@contextlib.contextmanager
def _runnable(
    file: Path,
    arguments: list[str],
    environment: dict[str, str],
    cxxflags: str,
    folders: list[Path],
) -> Iterator[Program]:
    if file.suffix in LANGUAGES:
        toolchain = with_operators(toolchain_for(file, sdk_prefix(), cxxflags), folders)
        with compiled(file, toolchain) as made:
            yield Program([str(made.file), *arguments], environment, made.is_kept)
        return
    if file.suffix == ".py":
        words = [sys.executable, as_argument(file)]
    elif os.access(file, os.X_OK):
        words = [as_argument(file)]
    else:
        fail(
            f"{file} is no source file ({' '.join(LANGUAGES)}), no .py script and not executable",
            EXIT_NOT_RUNNABLE,
        )
    yield Program([*words, *arguments], environment)


def existing_file(file: Path) -> None:
    """End the command when ``file`` is not there or not a file."""
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        fail(f"{file} does not exist", EXIT_USAGE)
    except OSError as error:
        fail(f"cannot find {file}: {error.strerror}", EXIT_USAGE)
    if not stat.S_ISREG(mode):
        fail(f"{file} is not a file", EXIT_USAGE)


def _emptied(file: Path) -> Path:
    """Create an empty file, so that the program does not append to an old one."""
    try:
        if file.is_file() and file.read_bytes()[:1] not in (b"", b"["):
            fail(f"{file} is no trace; --trace would replace it", EXIT_USAGE)
        os.close(os.open(file, _EMPTYING, 0o666))
    except OSError as error:
        fail(f"cannot write to {file}: {error.strerror}", EXIT_USAGE)
    return file.absolute()


def program_arguments(context: typer.Context, args: list[str] | None) -> list[str]:
    """Return the words behind FILE, unless one is an option of the command itself."""
    args = args or []
    # Only the first -- is a separator; a second one belongs to the program.
    if args[:1] == ["--"]:
        return args[1:]
    options = {name for parameter in context.command.params for name in parameter.opts}
    misplaced = [word for word in args if word.split("=")[0] in options and word.startswith("--")]
    if misplaced:
        fail(
            f"{misplaced[0]} stands after FILE, where the program's arguments are",
            EXIT_USAGE,
            hint="Write it before FILE, or -- before it if it is for the program.",
        )
    return args


def _runner(stats: bool) -> Callable[[list[str], dict[str, str]], int]:
    if not stats:
        return run_to_its_end
    from softnpu.cli.stats import run_with_stats

    return run_with_stats


def _checked_faults(faults: str) -> str:
    from softnpu import _core

    error = _core.faults_error(faults)
    if error:
        fail(f"--fail: {error}", EXIT_USAGE)
    return faults


def _replay(cxxflags: str, faults: list[str], operators: list[Path]) -> list[str]:
    flags = [f"--cxxflags={cxxflags}"] if cxxflags else []
    flags += [f"--fail={fault}" for fault in faults]
    flags += [f"--operators={folder}" for folder in operators]
    return ["softnpu", "run", *flags, "--schedule"]


def _compare(program: Program, count: int, run: list[str], file: list[str]) -> NoReturn:
    """Run the program under random schedules; end the command, at the first difference at once."""
    eager = schedules.outcome(program.words, program.environment, "eager")
    eager.show()
    if eager.status:
        fail(f"the program fails with the eager schedule, status {eager.status}", eager.status)
    seeds = range(1, count + 1)
    found = schedules.first_difference(program.words, program.environment, eager, seeds)
    if found is None:
        typer.echo(f"softnpu: the same with {count} random schedules", err=True)
        raise typer.Exit
    sys.stderr.buffer.write(found.outcome.stderr)
    replay = shlex.join([*run, f"random:{found.seed}", *file])
    fail(f"random:{found.seed}: {found.what}", found.status, hint=f"Replay it with: {replay}")


def _become(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Replace this process, so that stdin, signals and the exit status are the program's own."""
    sys.stdout.flush()
    sys.stderr.flush()
    # Python ignores these, and the program would inherit this.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execve(command[0], command, environment)
    except OSError as error:
        fail(f"cannot run {command[0]}: {error.strerror}", EXIT_NOT_RUNNABLE)
