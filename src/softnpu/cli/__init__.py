# SPDX-License-Identifier: Apache-2.0
"""The ``softnpu`` command: one file for each command, and shared modules."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its exit status."""
    # Imported here, so that importing the package's modules does not load typer.
    from softnpu.cli.app import app_for
    from softnpu.cli.output import end_of_output, prepare_streams

    prepare_streams()
    try:
        try:
            app_for(sys.argv[1:])(prog_name="softnpu")
        finally:
            sys.stdout.flush()
    except OSError as error:
        end_of_output(error)
