# SPDX-License-Identifier: Apache-2.0
"""How commands speak: results on stdout, everything else on stderr."""

import sys
from typing import NoReturn

import typer
from rich.console import Console
from rich.text import Text

# Exit statuses of softnpu's own failures, as shells use them.
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_NOT_RUNNABLE = 126
EXIT_NOT_FOUND = 127


def fail(message: str, status: int = EXIT_FAILURE, hint: str = "") -> NoReturn:
    """Print one error, and what to do about it when that is known, and end the command."""
    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(("softnpu: ", "bold red"), message), soft_wrap=True)
    if hint:
        console.print(Text(hint, style="dim"), soft_wrap=True)
    raise typer.Exit(status)


def results() -> Console:
    """Make the console for tables on stdout; piped tables get lines wide enough for grep."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 240)
