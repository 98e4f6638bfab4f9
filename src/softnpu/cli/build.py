# SPDX-License-Identifier: Apache-2.0
"""``softnpu build``: builds a stand-alone program."""

from pathlib import Path
from typing import Annotated

import typer

from softnpu.cli.environment import sdk_prefix
from softnpu.cli.output import EXIT_USAGE, fail
from softnpu.cli.run import FlagsOption, existing_file
from softnpu.cli.toolchain import LANGUAGES, toolchain_for


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A C or C++ source file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="The program to write.")
    ],
    cxxflags: FlagsOption = "",
) -> None:
    """Compile a program against the SDK. The program finds the libraries by itself.

    The exit status is the compiler's. $CXX, $CXXFLAGS (for C: $CC, $CFLAGS), $CPPFLAGS and $LDFLAGS
    are honoured.
    """
    existing_file(file)
    if file.suffix not in LANGUAGES:
        fail(f"{file} is not a C or C++ source file ({' '.join(LANGUAGES)})", EXIT_USAGE)
    status = toolchain_for(file, sdk_prefix(), cxxflags).build(file, output)
    raise typer.Exit(status)
