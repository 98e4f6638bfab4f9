# SPDX-License-Identifier: Apache-2.0
"""``softnpu sdk`` and ``softnpu env``: locations for build files and shells."""

import os
from pathlib import Path
from typing import Annotated

import typer

from softnpu.cli.environment import export_lines, sdk_environment, sdk_prefix
from softnpu.cli.output import EXIT_USAGE, fail
from softnpu.cli.toolkit import install


def sdk_command(
    cmake: Annotated[
        bool,
        typer.Option("--cmake", help="Print the folder for find_package(softnpu): softnpu_DIR."),
    ] = False,
    pkg_config: Annotated[
        bool, typer.Option("--pkg-config", help="Print the folder for PKG_CONFIG_PATH.")
    ] = False,
    install_in: Annotated[
        Path | None,
        typer.Option(
            "--install",
            metavar="DIR",
            help="Lay out a toolkit's folders in DIR, such as /usr/local/Ascend, with links to "
            "the SDK, and print the one that programs look for.",
        ),
    ] = None,
) -> None:
    """Print the prefix that holds include/, lib64/ and set_env.sh."""
    if cmake + pkg_config + (install_in is not None) > 1:
        fail("--cmake, --pkg-config and --install are not used together", EXIT_USAGE)
    folder = sdk_prefix()
    if install_in is not None:
        folder = install(folder, install_in)
    if cmake:
        folder = folder / "share" / "cmake" / "softnpu"
    elif pkg_config:
        folder = folder / "lib64" / "pkgconfig"
    typer.echo(folder)


def env_command() -> None:
    """Print shell exports that point builds and programs at the SDK.

    Use it as: eval "$(softnpu env)"
    """
    typer.echo(export_lines(sdk_environment(sdk_prefix(), os.environ)), nl=False)
