# SPDX-License-Identifier: Apache-2.0
"""``softnpu build``: builds a stand-alone program."""

from pathlib import Path
from typing import Annotated

import typer

from softnpu.cli.environment import sdk_prefix
from softnpu.cli.operators import OperatorsOption, build, checked_folders, with_operators
from softnpu.cli.output import EXIT_USAGE, fail
from softnpu.cli.run import FlagsOption, existing_file
from softnpu.cli.toolchain import LANGUAGES, toolchain_for


def command(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The program to write, or the operator's folder."
        ),
    ],
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A C or C++ source file.")
    ] = None,
    operator: Annotated[
        Path | None,
        typer.Option("--operator", metavar="OP.toml", help="Make an operator of this description."),
    ] = None,
    operators: OperatorsOption = None,
    cxxflags: FlagsOption = "",
) -> None:
    """Compile a program against the SDK. The program finds the libraries by itself.

    With --operator, make an operator instead: library, header and Python module of a description,
    and of a C++ source if the description has no formula.

    The exit status is the compiler's. $CXX, $CXXFLAGS (for C: $CC, $CFLAGS), $CPPFLAGS and $LDFLAGS
    are honoured.
    """
    if operator is not None:
        existing_file(operator)
        if file is not None:
            existing_file(file)
        raise typer.Exit(build(operator, file, output, cxxflags))
    if file is None:
        fail("FILE is missing", EXIT_USAGE)
    existing_file(file)
    if file.suffix not in LANGUAGES:
        fail(f"{file} is not a C or C++ source file ({' '.join(LANGUAGES)})", EXIT_USAGE)
    toolchain = toolchain_for(file, sdk_prefix(), cxxflags)
    status = with_operators(toolchain, checked_folders(operators)).build(file, output)
    raise typer.Exit(status)
