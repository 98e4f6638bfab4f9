# SPDX-License-Identifier: Apache-2.0
"""The output of commands: results on stdout, everything else on stderr."""

import codecs
import contextlib
import io
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:  # loaded where it is used: that takes a fifth of a command's start
    from rich.console import Console

# Exit statuses of softnpu's own failures, as in shells.
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_NOT_RUNNABLE = 126
EXIT_NOT_FOUND = 127

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

# The width of tables in a pipe: wide enough for grep.
PIPE_WIDTH = 240


def fail(message: str, status: int = EXIT_FAILURE, hint: str = "") -> NoReturn:
    """Print an error and, if known, a hint how to fix it; end the command."""
    _complain(message)
    if hint:
        advise(hint)
    raise typer.Exit(status)


def advise(text: str) -> None:
    """Print a hint how to fix what was reported."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, highlight=False).print(Text(text, style="dim"), soft_wrap=True)


def _complain(message: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(("softnpu: ", "bold red"), message), soft_wrap=True)


def prepare_streams() -> None:
    """Reopen streams that the caller closed, and let stdout accept any text.

    If the reader of a pipe is gone, SIGPIPE ends the command, as with other tools.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.stdout is None:
        # Writing results to a closed stdout is an error: a read-only stream causes it.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    codecs.register_error("unescaped", _unescaped)
    stdout = sys.stdout
    if isinstance(stdout, io.TextIOWrapper) and stdout.errors in ("strict", "surrogateescape"):
        stdout.reconfigure(errors="unescaped")


def _unescaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode undecodable bytes of names unchanged, and escape other unencodable characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    one = UnicodeEncodeError(
        error.encoding, error.object, error.start, error.start + 1, error.reason
    )
    handler = "surrogateescape" if "\udc80" <= error.object[error.start] <= "\udcff" else ""
    return codecs.lookup_error(handler or "backslashreplace")(one)


def end_of_output(error: OSError) -> NoReturn:
    """End the command after a system error, mostly one of writing results."""
    if not isinstance(error, BrokenPipeError):
        with contextlib.suppress(OSError):
            _complain(f"{error.filename or 'cannot write the results'}: {error.strerror}")
    # Flushing the rest of stdout would fail again when Python ends.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(EXIT_FAILURE)


def print_json(document: Any) -> None:
    """Print a JSON document in plain ASCII, for programs."""
    typer.echo(json.dumps(document, indent=2))


def results() -> "Console":
    """Create the console for tables on stdout; piped tables are wide enough for grep."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
