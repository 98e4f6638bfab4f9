# SPDX-License-Identifier: Apache-2.0
"""``softnpu sdk`` and ``softnpu env``: locations for build files and shells."""

import os
from typing import Annotated

import typer

from softnpu.cli.environment import export_lines, sdk_environment, sdk_prefix
from softnpu.cli.output import EXIT_USAGE, fail


def sdk_command(
    cmake: Annotated[
        bool,
        typer.Option("--cmake", help="Print the folder for find_package(softnpu): softnpu_DIR."),
    ] = False,
    pkg_config: Annotated[
        bool, typer.Option("--pkg-config", help="Print the folder for PKG_CONFIG_PATH.")
    ] = False,
) -> None:
    """Print the prefix that holds include/, lib64/ and set_env.sh."""
    if cmake and pkg_config:
        fail("--cmake is not used together with --pkg-config", EXIT_USAGE)
    folder = sdk_prefix()
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
