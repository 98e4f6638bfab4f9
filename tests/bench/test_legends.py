# SPDX-License-Identifier: Apache-2.0
"""What the pictures say of themselves."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from softnpu.bench import legends, plots


def test_the_picture_of_speedups_explains_its_marks(make_results: Any, make_row: Any) -> None:
    """A dot, a bar and a class; nothing is left out here, and nothing is said to be."""
    (marks,) = legends.of_speedup(make_results(make_row("sliced", 1.0, 2.0)))
    for word in ("Dot: ", "Bar: the median of its class", "Class: "):
        assert word in marks


def test_cases_that_are_left_out_are_named(make_results: Any, make_row: Any) -> None:
    """With the reason: other programs, memory, no peer; and those that lie outside."""
    rows = [
        make_row("sliced", 1.0, 2.0),
        make_row("busy", 1.0, 2.0, busy=0.5),
        make_row("alone", 1.0),
        make_row("far", 1.0, 200.0),
    ]
    results = make_results(*rows)
    results.skipped = ["large/case"]
    notes = legends.of_speedup(results)[1:]
    name = "selu_backward/float32/{}/1K"
    assert notes == [
        f"1 case not drawn, disturbed by other programs: {name.format('busy')}.",
        "1 case not drawn, for want of memory: large/case.",
        f"1 case not drawn, without a call of PyTorch's: {name.format('alone')}.",
        f"1 case drawn at the edge, above 64x: {name.format('far')} (200x).",
    ]


def test_many_names_are_counted(make_results: Any, make_row: Any) -> None:
    """A picture has room for a few of them."""
    rows = [make_row(f"layout{i}", 1.0, 2.0, busy=0.5) for i in range(10)]
    (_, note) = legends.of_speedup(make_results(*rows))
    assert note.startswith("10 cases not drawn")
    assert note.count("selu_backward") == legends.MOST_NAMES
    assert note.endswith("and 4 more, which results.json has.")


def test_the_pictures_of_lines_explain_theirs(make_results: Any, make_row: Any) -> None:
    """A line, a band and the triad; disturbed cases are drawn here, and named."""
    rows = [make_row("contiguous", 1.0, 2.0, busy=0.5)]
    marks, disturbed = legends.of_lines(make_results(*rows), rows)
    for word in ("Line: the median", "Band: from their lower to their upper quartile", "Triad:"):
        assert word in marks
    assert disturbed.startswith("1 case drawn, but disturbed by other programs: ")


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")
def test_the_notes_are_in_the_pictures(
    tmp_path: Path, make_results: Any, make_row: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each picture is drawn with its own notes, below everything else."""
    rows = [
        make_row(f"contiguous-{size}", 1.0, 2.0, layout="contiguous", size=size, elements=elements)
        for size, elements in (("1K", 1 << 10), ("64K", 1 << 16))
    ]
    written: list[tuple[list[str], float]] = []
    write = legends.write

    def spy(figure: Any, notes: list[str], colour: str) -> None:
        before = len(figure.texts)
        write(figure, notes, colour)
        (text,) = figure.texts[before:]
        written.append((notes, text.get_position()[1]))
        assert " ".join(text.get_text().split()) == " ".join(notes)

    monkeypatch.setattr(legends, "write", spy)
    drawn = plots.write(make_results(*rows), tmp_path)
    assert [file.name for file in drawn] == list(plots.FILES)
    assert [notes[0].split(":")[0] for notes, _ in written] == ["Dot", "Line", "Line"]
    assert all(height < 0 for _, height in written)
    assert all(file.stat().st_size > 10_000 for file in drawn)
