# SPDX-License-Identifier: Apache-2.0
"""Formats a report as text and tables."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softnpu.judging.dtypes import BY_NAME
from softnpu.judging.report import Element, Report

TEXT_WIDTH = 160
BAR_WIDTH = 40
# By bytes of a type: the number of digits that distinguish all of its values.
DIGITS = {1: 5, 2: 5, 4: 9, 8: 17}


def as_text(report: Report) -> str:
    """Render a report as plain text."""
    text = io.StringIO()
    show(Console(file=text, width=TEXT_WIDTH, highlight=False, color_system=None), report)
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines())


def show(console: Console, report: Report) -> None:
    """Print a report."""
    verdict = ("passes", "bold green") if report.ok else ("fails", "bold red")
    what = f"{report.operator}: {report.output}, {report.dtype} {list(report.shape)}: "
    console.print(Text.assemble((what, "bold"), verdict), soft_wrap=True)
    for label, value in _lines(report):
        console.print(Text.assemble((f"  {label:<20}", "dim"), value), soft_wrap=True)
    console.print(_histogram(report))
    if report.worst:
        console.print(_worst(report))


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    yield "largest error", f"{report.max_ulp:g} ULP of {report.unit}"
    yield "mean error", f"{report.mean_ulp:.4g} ULP"
    yield "largest absolute", f"{report.max_absolute:.4g}"
    yield "largest relative", f"{report.max_relative:.4g}"
    yield "correctly rounded", f"{report.correctly_rounded:.4%} of {report.elements}"
    yield (
        "mismatches",
        f"{report.nan} of NaN, {report.infinity} of infinity, {report.zero_sign} of a zero's sign",
    )
    yield "documented accuracy", f"{report.accuracy}: {_outside(report.outside_accuracy)}"
    if report.outside_tolerances is not None:
        given = ", ".join(f"{name} {value:g}" for name, value in report.tolerances.items())
        yield "tolerances", f"{given}: {_outside(report.outside_tolerances)}"


def _outside(count: int) -> str:
    return f"{count} outside" if count else "all within"


def _histogram(report: Report) -> Table:
    table = Table("ULP", "elements", "", box=SIMPLE_HEAD)
    most = max(report.histogram.values(), default=1)
    for name, count in report.histogram.items():
        table.add_row(name, str(count), "█" * max(round(BAR_WIDTH * count / most), 1))
    for column in table.columns[:2]:
        column.justify = "right"
    return table


def _worst(report: Report) -> Table:
    heads = ("index", "expected", "got", "ULP", "absolute", "inputs")
    table: Table = Table(*heads, box=SIMPLE_HEAD, title="the worst elements", title_justify="left")
    digits = DIGITS[BY_NAME[report.dtype].itemsize >> report.dtype.startswith("complex")]
    for element in report.worst:
        table.add_row(*_cells(element, digits), style="" if element.ok else "red")
    return table


def _cells(element: Element, digits: int) -> Iterator[str]:
    yield str(list(element.index))
    yield _number(element.expected, digits)
    yield _number(element.got, digits)
    yield f"{element.ulp:g}"
    yield f"{element.absolute:.4g}"
    yield ", ".join(f"{name}={_number(given, digits)}" for name, given in element.inputs.items())


def _number(value: object, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
