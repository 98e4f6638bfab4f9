# SPDX-License-Identifier: Apache-2.0
"""What the marks of the pictures mean, and which cases a picture leaves out, and why."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from softnpu.bench.results import BUSY, Results, Row

# Beyond this they are drawn at the edge: layouts that the peer walks element by element.
WIDEST = 64.0
# So many names of each kind are in the picture.
MOST_NAMES = 6

LETTER = 0.058  # inches, of the notes


def of_speedup(results: Results) -> list[str]:
    """Explain the picture of speed-ups."""
    quiet = [row for row in results.rows if row.busy <= BUSY]
    return [
        "Dot: a case, which is an operator, a data type, a layout and a size; orange where PyTorch"
        " is faster. Bar: the median of its class. Class: cases whose operators do the same kind"
        " of work on the same kind of layout.",
        *_left_out(results),
        *_named("not drawn, without a call of PyTorch's", _ids(quiet, lambda r: r.ratio is None)),
        *_named(
            f"drawn at the edge, above {WIDEST:g}x",
            [f"{row.id} ({row.ratio:.0f}x)" for row in quiet if (row.ratio or 0) > WIDEST],
        ),
    ]


def of_lines(results: Results, drawn: Iterable[Row]) -> list[str]:
    """Explain a picture of lines over size, in which these cases are."""
    return [
        "Line: the median of the rounds. Band: from their lower to their upper quartile. Triad:"
        " c = a + s * b on as many bytes, measured in the same rounds.",
        *_named("drawn, but disturbed by other programs", _ids(drawn, lambda r: r.busy > BUSY)),
        *_named("not drawn, for want of memory", results.skipped or []),
    ]


def write(figure: Any, notes: list[str], colour: str) -> None:
    """Write notes below a picture, as wide as it is."""
    letters = int(figure.get_figwidth() / LETTER)
    text = "\n".join(line for note in notes for line in textwrap.wrap(note, letters))
    lowest = figure.get_tightbbox().y0 / figure.get_figheight()
    place = {"ha": "left", "va": "top", "fontsize": 7, "color": colour}
    figure.text(0.01, min(lowest, 0) - 0.02, text, **place)


def _left_out(results: Results) -> list[str]:
    disturbed = _ids(results.rows, lambda row: row.busy > BUSY)
    return [
        *_named("not drawn, disturbed by other programs", disturbed),
        *_named("not drawn, for want of memory", results.skipped or []),
    ]


def _ids(rows: Iterable[Row], wanted: Callable[[Row], bool]) -> list[str]:
    return [row.id for row in rows if wanted(row)]


def _named(why: str, names: list[str]) -> list[str]:
    if not names:
        return []
    more = len(names) - MOST_NAMES
    rest = f" and {more} more, which results.json has" if more > 0 else ""
    cases = "case" if len(names) == 1 else "cases"
    return [f"{len(names)} {cases} {why}: {', '.join(names[:MOST_NAMES])}{rest}."]
