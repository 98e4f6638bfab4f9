# SPDX-License-Identifier: Apache-2.0
"""The file of a run, and what is concluded from it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from softnpu.bench.cases import CLASSES, SIZES
from softnpu.bench.cases.case import GRID
from softnpu.bench.compare import changes, unlike
from softnpu.bench.compare import show as show_changes
from softnpu.bench.report import class_means, show, summary
from softnpu.bench.results import Results, write_whole
from softnpu.cli.bench import REPORT_WIDTH

DOCUMENTED = {"schema", "machine", "versions", "settings", "ceilings", "import", "skipped", "cases"}
CASE = {
    *("id", "group", "operator", "variant", "dtype", "layout", "size", "elements", "bytes"),
    *("softnpu", "peer", "triad", "busy"),
    *("ratio", "noise", "gb_per_s", "ceiling_gb_per_s", "share"),
}
TIMING = {"median", "low", "high", "halves", "rounds", "calls"}


def test_the_file_has_the_documented_fields(
    tmp_path: Path, make_results: Any, make_row: Any, make_timing: Any
) -> None:
    """benchmarks/README.md names them."""
    rows = [make_row("transposed", 1.0, 2.0, triad=make_timing(0.5)), make_row("sliced", 1.0)]
    make_results(*rows).write(tmp_path / "results.json")
    data = json.loads((tmp_path / "results.json").read_text())
    assert set(data) == DOCUMENTED
    assert all(set(case) == CASE for case in data["cases"])
    assert set(data["cases"][0]["softnpu"]) == TIMING
    assert data["cases"][0]["ratio"] == 2.0
    assert data["cases"][0]["share"] == 0.5
    assert data["cases"][1]["peer"] is None


def test_reading_gives_what_was_written(tmp_path: Path, make_results: Any, make_row: Any) -> None:
    """Equal, timings and all."""
    written = make_results(make_row("transposed", 1.0, 2.0), make_row("sliced", 3.0))
    written.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == written


@pytest.mark.parametrize("text", ["[]", "{}", '{"schema": 0}'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    """Also a result of another schema."""
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(ValueError, match=r"its schema is not \d"):
        Results.read(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"machine": 5}, "machine is 5"),
        ({"versions": []}, r"versions is \[\]"),
        ({}, "it lacks 'cases'"),
    ],
)
def test_results_without_their_parts_are_refused(
    tmp_path: Path, make_results: Any, change: dict[str, object], message: str
) -> None:
    """Before anything is measured; the message says which part."""
    file = tmp_path / "results.json"
    make_results().write(file)
    data = {**json.loads(file.read_text()), **change}
    if not change:
        del data["cases"]
    file.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        Results.read(file)


def test_files_that_are_no_json_are_refused(tmp_path: Path) -> None:
    """By the parser, which says where it stopped."""
    (tmp_path / "other.txt").write_text("no JSON")
    with pytest.raises(json.JSONDecodeError, match="line 1 column 1"):
        Results.read(tmp_path / "other.txt")


def test_deep_files_are_refused(tmp_path: Path) -> None:
    """Deeper than Python's parser goes."""
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested too deeply"):
        Results.read(tmp_path / "deep.json")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["busy"], "x"),
        (["busy"], float("nan")),
        (["id"], ["a"]),
        (["elements"], None),
        (["bytes"], 10**400),
        (["softnpu"], None),
        (["softnpu"], []),
        (["peer"], "abc"),
        (["softnpu", "median"], 0),
        (["softnpu", "median"], "1"),
        (["softnpu", "median"], True),
        (["peer", "low"], float("inf")),
        (["triad", "halves"], []),
        (["peer", "halves"], [1.0, 0]),
        (["peer", "halves"], 5),
    ],
)
def test_wrong_values_are_refused(
    tmp_path: Path,
    make_results: Any,
    make_row: Any,
    make_timing: Any,
    path: list[str],
    value: object,
) -> None:
    """Before anything is measured that should be compared with them; the message says which."""
    file = tmp_path / "results.json"
    make_results(make_row("sliced", 1.0, 2.0, triad=make_timing(1.0))).write(file)
    data = json.loads(file.read_text())
    place = data["cases"][0]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    file.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=f"case .*{'.*'.join(path)} is "):
        Results.read(file)


@pytest.mark.parametrize("cases", [5, "abc", [5], ["abc"], {"a": 1}])
def test_other_things_than_cases_are_refused(
    tmp_path: Path, make_results: Any, cases: object
) -> None:
    """Whatever they are instead."""
    file = tmp_path / "results.json"
    make_results().write(file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "cases": cases}))
    with pytest.raises((ValueError, TypeError)):
        Results.read(file)


def test_the_report_cuts_no_table(make_results: Any, make_row: Any) -> None:
    """With cases of every class and size, the report's file has whole names and whole numbers."""
    rows = [
        make_row(f"{group}-{size}", 1.0, 12.34 + place, group=group, size=size)
        for place, group in enumerate(CLASSES)
        for size in SIZES
    ]
    text = io.StringIO()
    show(Console(file=text, width=REPORT_WIDTH), make_results(*rows))
    lines = text.getvalue().splitlines()
    assert "a CPU" in lines[0]
    for place, group in enumerate(CLASSES):
        cell = f"{12.34 + place:.2f} / {12.34 + place:.2f}"
        (line,) = (line for line in lines if line.strip().startswith(f"{group} ") and cell in line)
        assert line.count(cell) == len(GRID) + 1  # and one for all sizes


def test_a_planted_regression_is_found(make_results: Any, make_row: Any) -> None:
    """Also when the machine was twice as slow for both sides: ratios count, not times."""
    before = make_results(make_row("transposed", 1.0, 2.0), make_row("sliced", 1.0, 2.0))
    now = make_results(make_row("transposed", 3.0, 4.0), make_row("sliced", 2.0, 4.0))
    slower = [change for change in changes(before, now) if change.slower]
    assert [change.id for change in slower] == ["selu_backward/float32/transposed/1K"]
    assert slower[0].factor == pytest.approx(1.5)


def test_unlike_runs_are_said_to_be(make_results: Any, make_row: Any) -> None:
    """What differs besides softnpu comes before what changed."""
    before = make_results(make_row("sliced", 1.0, 2.0))
    now = make_results(make_row("sliced", 1.0, 2.0))
    assert unlike(before, now) == []
    now.machine["isa"] = "vector"
    now.versions.pop("numpy", None)
    before.versions["numpy"] = "1.0"
    isa = before.machine.get("isa", "none")
    differences = [f"isa: {isa} before, vector now", "numpy: 1.0 before, none now"]
    assert unlike(before, now) == differences
    text = io.StringIO()
    show_changes(Console(file=text, width=REPORT_WIDTH), before, now)
    assert text.getvalue().splitlines()[:2] == differences


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """Where the disk is full, an earlier run's results stay; the error names the file."""
    file = tmp_path / "results.json"
    write_whole(file, "before")
    # The limit ends the child's write, and its error is the one of a full disk but for its number.
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from softnpu.bench.results import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n"
        "try: write_whole(Path(sys.argv[1]), 'x' * 4096)\n"
        "except OSError as error: print(error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_noise_is_not_reported(make_results: Any, make_row: Any) -> None:
    """Neither the noise of the old run nor that of the new one, nor less than is worth a look."""
    for old_noise, new_noise, time in ((1.3, 1.0, 1.25), (1.0, 1.3, 1.25), (1.0, 1.0, 1.04)):
        before = make_results(make_row("sliced", 1.0, 2.0, noise=old_noise))
        now = make_results(make_row("sliced", time, 2.0, noise=new_noise))
        assert not any(change.slower or change.faster for change in changes(before, now))


def test_disturbed_cases_are_not_compared(make_results: Any, make_row: Any) -> None:
    """Whichever run was disturbed."""
    quiet, busy = make_row("sliced", 1.0, 2.0), make_row("sliced", 9.0, 2.0, busy=0.5)
    assert changes(make_results(quiet), make_results(busy)) == []
    assert changes(make_results(busy), make_results(quiet)) == []


def test_times_are_compared_where_a_run_has_no_peer(make_results: Any, make_row: Any) -> None:
    """And cases that only one run has are not compared."""
    before = make_results(make_row("sliced", 1.0), make_row("gone", 1.0))
    now = make_results(make_row("sliced", 2.0, 1.0), make_row("new", 1.0))
    (change,) = changes(before, now)
    assert (change.measure, change.factor, change.slower) == ("time", 2.0, True)


def test_slower_than_the_peer_counts_beyond_noise_only(make_results: Any, make_row: Any) -> None:
    """The summary names such cases."""
    rows = [make_row("a", 1.0, 0.9), make_row("b", 1.0, 0.9, noise=1.2), make_row("c", 1.0, 8.0)]
    lines = summary(make_results(*rows))
    assert "2 of them below 1x, 1 beyond their noise" in lines
    assert [line.split()[0] for line in lines if line.startswith(" ")] == [rows[0].id]


def test_a_busy_machine_is_told(make_results: Any, make_row: Any) -> None:
    """So that nobody believes such a run."""
    assert not any("BUSY" in line for line in summary(make_results(make_row("a", 1.0))))
    assert any("BUSY" in line for line in summary(make_results(make_row("a", 1.0, busy=0.5))))


def test_disturbed_cases_are_in_no_mean(make_results: Any, make_row: Any) -> None:
    """Neither when there are others nor when there are none."""
    rows = [make_row("a", 1.0, 4.0), make_row("b", 1.0, 64.0, busy=0.5)]
    assert class_means(rows) == {"elu, selu strided": pytest.approx(4.0)}
    assert class_means(rows[1:]) == {}
    (line,) = summary(make_results(rows[1]))
    assert line.startswith("THE MACHINE WAS BUSY: in 1 of 1 cases")


def test_classes_have_geometric_means(make_row: Any) -> None:
    """Of the ratios alone; a class without any has none."""
    rows = [make_row("a", 1.0, 4.0), make_row("b", 1.0, 1.0), make_row("c", 1.0)]
    rows.append(make_row("d", 1.0, group="gather"))
    assert class_means(rows) == {"elu, selu strided": pytest.approx(2.0)}
