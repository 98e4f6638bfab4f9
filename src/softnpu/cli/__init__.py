# SPDX-License-Identifier: Apache-2.0
"""The ``softnpu`` command: one file per command, the shared parts beside them."""

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its exit status."""
    # Imported here so that importing the package for its parts does not load typer.
    from softnpu.cli.app import app

    app(prog_name="softnpu")
