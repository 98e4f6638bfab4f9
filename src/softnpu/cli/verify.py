# SPDX-License-Identifier: Apache-2.0
"""``softnpu verify``: judges a result that was computed elsewhere."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softnpu.cli.ops import operator_named
from softnpu.cli.output import EXIT_FAILURE, EXIT_USAGE, fail, results

if TYPE_CHECKING:
    from softnpu.judging.report import Report


class Format(str, enum.Enum):
    """The format of the report."""

    text = "text"
    json = "json"


OperatorArgument = Annotated[
    str,
    typer.Argument(metavar="OP", help="An operator, as in aclnnEluBackward or elu_backward."),
]
PartsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="CASE",
        help="Files of named arrays (case.npz), and single arguments as NAME=FILE (.npy, or raw "
        "elements) or NAME=VALUE.",
    ),
]
DtypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--dtype",
        metavar="[NAME=]TYPE",
        help="The data type of an argument, or of all raw files: float16, BF16, ...; repeatable.",
    ),
]
ShapeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="[NAME=]N,N,...",
        help="The shape of an argument, or of all raw files; repeatable.",
    ),
]
RtolOption = Annotated[
    float | None, typer.Option("--rtol", help="Allow errors of so much of the reference.")
]
AtolOption = Annotated[float | None, typer.Option("--atol", help="Allow errors of so much.")]
UlpOption = Annotated[
    float | None, typer.Option("--ulp", help="Allow errors of so many units in the last place.")
]
WorstOption = Annotated[
    int, typer.Option("--worst", min=0, metavar="N", help="Name the N worst elements.")
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the errors.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="What to print.")]


def command(
    operator: OperatorArgument,
    parts: PartsArgument,
    dtypes: DtypeOption = None,
    shapes: ShapeOption = None,
    rtol: RtolOption = None,
    atol: AtolOption = None,
    ulp: UlpOption = None,
    worst: WorstOption = 10,
    plot: PlotOption = None,
    output_format: FormatOption = Format.text,
) -> None:
    """Judge a result of an operator that was computed elsewhere, against its float64 definition.

    The arguments and the result have their documented names. Without tolerances, the documented
    accuracy decides. The exit status is 0 if the result passes, 1 if not, 2 if it cannot be judged.
    """
    contract = operator_named(operator)
    from softnpu import verify
    from softnpu.judging.case import CaseError
    from softnpu.judging.words import read_parts

    try:
        values = read_parts(contract, parts, dtypes or [], shapes or [])
        report = verify(operator, values, rtol=rtol, atol=atol, ulp=ulp, worst=worst)
    except CaseError as error:
        hint = f"softnpu ops {contract.operator} shows the operator's contract."
        fail(str(error), EXIT_USAGE, hint=hint)
    except OSError as error:
        fail(f"cannot read {error.filename or 'the case'}: {error.strerror}", EXIT_USAGE)
    except MemoryError:
        fail("there is not enough memory to judge the case", EXIT_USAGE)
    if plot is not None:
        _draw(report, plot)
    _print(report, output_format)
    if not report.ok:
        raise typer.Exit(EXIT_FAILURE)


def _draw(report: Report, file: Path) -> None:
    from softnpu.judging import plot

    try:
        plot.write(report, file)
    except ImportError:
        hint = "Install it with: pip install 'softnpu[bench]'"
        fail("--plot needs matplotlib", EXIT_USAGE, hint=hint)
    except (OSError, ValueError) as error:
        fail(f"cannot write {file}: {getattr(error, 'strerror', None) or error}", EXIT_USAGE)


def _print(report: Report, output_format: Format) -> None:
    if output_format is Format.json:
        typer.echo(json.dumps(report.as_dict(), allow_nan=False, indent=1))
        return
    from softnpu.judging.render import show

    show(results(), report)
