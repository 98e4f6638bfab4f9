# SPDX-License-Identifier: Apache-2.0
"""How commands speak: results on stdout, everything else on stderr."""

import codecs
import contextlib
import io
import json
import os
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

# Exit statuses of softnpu's own failures, as shells use them.
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_NOT_RUNNABLE = 126
EXIT_NOT_FOUND = 127

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

# Of tables that go into a pipe: lines wide enough for grep.
PIPE_WIDTH = 240


def fail(message: str, status: int = EXIT_FAILURE, hint: str = "") -> NoReturn:
    """Print one error, and what to do about it when that is known, and end the command."""
    _complain(message, hint)
    raise typer.Exit(status)


def _complain(message: str, hint: str = "") -> None:
    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(("softnpu: ", "bold red"), message), soft_wrap=True)
    if hint:
        console.print(Text(hint, style="dim"), soft_wrap=True)


def prepare_streams() -> None:
    """Make streams of those that the caller closed, and let stdout take any text.

    Where nobody reads on, the command ends by SIGPIPE, as other tools do.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.stdout is None:
        # Results that nobody can get are an error: what is open for reading refuses them.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    codecs.register_error("as_given", _as_given)
    stdout = sys.stdout
    if isinstance(stdout, io.TextIOWrapper) and stdout.errors in ("strict", "surrogateescape"):
        stdout.reconfigure(errors="as_given")


def _as_given(error: UnicodeError) -> tuple[str | bytes, int]:
    """Write bytes of names as they are, and other characters that have no code escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    one = UnicodeEncodeError(
        error.encoding, error.object, error.start, error.start + 1, error.reason
    )
    handler = "surrogateescape" if "\udc80" <= error.object[error.start] <= "\udcff" else ""
    return codecs.lookup_error(handler or "backslashreplace")(one)


def end_of_output(error: OSError) -> NoReturn:
    """End the command after a failure of the system, in most cases to write results."""
    if not isinstance(error, BrokenPipeError):
        with contextlib.suppress(OSError):
            _complain(f"{error.filename or 'cannot write the results'}: {error.strerror}")
    # What stdout still holds would fail again when Python ends.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(EXIT_FAILURE)


def print_json(document: Any) -> None:
    """Print what a program is to read: one document, in plain ASCII."""
    typer.echo(json.dumps(document, indent=2))


def results() -> Console:
    """Make the console for tables on stdout; piped tables get lines wide enough for grep."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
