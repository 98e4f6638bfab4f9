# SPDX-License-Identifier: Apache-2.0
"""``softnpu sdk`` and ``softnpu env``: for build files and shells."""

import os

import typer

from softnpu.cli.environment import export_lines, sdk_environment, sdk_prefix


def sdk_command() -> None:
    """Print the prefix that holds include/, lib64/ and set_env.sh."""
    typer.echo(sdk_prefix())


def env_command() -> None:
    """Print shell exports that point builds and programs at the SDK.

    Use it as: eval "$(softnpu env)"
    """
    typer.echo(export_lines(sdk_environment(sdk_prefix(), os.environ)), nl=False)
