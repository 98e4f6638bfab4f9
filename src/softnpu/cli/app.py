# SPDX-License-Identifier: Apache-2.0
"""The table of commands."""

from typing import Annotated

import typer

from softnpu.cli import bench, build, check, explain, info, kept, ops, run, sdk, verify

app = typer.Typer(
    help="Runs Ascend aclnn programs on this machine's CPU.",
    no_args_is_help=True,
    # Wraps paragraphs to the terminal's width; other modes keep the line breaks of docstrings.
    rich_markup_mode="markdown",
    # Plain tracebacks can be copied into a bug report.
    pretty_exceptions_enable=False,
)

# Everything after FILE belongs to the program, including options.
app.command("run", context_settings=run.CONTEXT_SETTINGS)(run.command)
app.command("check", context_settings=run.CONTEXT_SETTINGS)(check.command)
app.command("build")(build.command)
app.command("sdk")(sdk.sdk_command)
app.command("env")(sdk.env_command)
app.command("info")(info.command)
app.command("ops")(ops.command)
app.command("explain")(explain.command)
app.command("verify")(verify.command)
app.command("bench")(bench.command)
app.command("cache")(kept.command)


def _print_version(wanted: bool) -> None:
    if wanted:
        from softnpu import __version__

        typer.echo(f"softnpu {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass
