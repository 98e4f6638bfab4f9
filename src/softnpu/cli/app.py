# SPDX-License-Identifier: Apache-2.0
"""The table of commands."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

# The module and the function of each command.
COMMANDS = {
    "run": ("run", "command"),
    "check": ("check", "command"),
    "build": ("build", "command"),
    "sdk": ("sdk", "sdk_command"),
    "env": ("sdk", "env_command"),
    "info": ("info", "command"),
    "ops": ("ops", "command"),
    "explain": ("explain", "command"),
    "verify": ("verify", "command"),
    "bench": ("bench", "command"),
    "cache": ("kept", "command"),
}

# Everything after FILE belongs to the program, including options.
_WITH_PROGRAMS = {"allow_interspersed_args": False, "ignore_unknown_options": False}


def app_for(words: Sequence[str]) -> typer.Typer:
    """Make the command line for these words; it loads only the module of their command."""
    if list(words) == ["--version"]:
        return make_app([])
    return make_app([words[0]] if words and words[0] in COMMANDS else COMMANDS)


def make_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Make the command line with these commands."""
    app = typer.Typer(
        help="Runs Ascend aclnn programs on this machine's CPU.",
        no_args_is_help=True,
        # Wraps paragraphs to the terminal's width; other modes keep the line breaks of docstrings.
        rich_markup_mode="markdown",
        # Plain tracebacks can be copied into a bug report.
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in names:
        module, function = COMMANDS[name]
        settings = _WITH_PROGRAMS if name in ("run", "check") else None
        command = getattr(import_module(f"softnpu.cli.{module}"), function)
        app.command(name, context_settings=settings)(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from softnpu import __version__

        typer.echo(f"softnpu {__version__}")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass
