# SPDX-License-Identifier: Apache-2.0
"""`softnpu bench` from the outside, with as few cases as it can be given."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from softnpu.bench.cases import table
from softnpu.bench.results import BUSY, Results, Row
from softnpu.cli import bench

FEW = ("--quick", "--filter", "selu_backward/float32/contiguous/64K")


def softnpu_bench(*args: object) -> subprocess.CompletedProcess[str]:
    """Runs `softnpu bench ARGS` to its end."""
    command = [sys.executable, "-m", "softnpu", "bench", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.alone
def test_a_run_from_end_to_end(tmp_path: Path) -> None:
    """Without a peer: a table, a file, a text, and a second run that is compared with it."""
    out = tmp_path / "new" / "out"
    done = softnpu_bench(*FEW, "--threads", 1, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "selu_backward/float32/contiguous/64K" in done.stdout
    assert "triad" in done.stdout
    found = Results.read(out / "results.json")
    assert found.settings["threads"] == 1
    assert [row.peer for row in found.rows] == [None]
    assert found.rows[0].share is not None
    assert "GB/s" in (out / "report.txt").read_text()
    again = softnpu_bench(*FEW, "--threads", 1, "--compare", out / "results.json")
    assert again.returncode == 0, again.stderr
    assert "cases compared" in again.stdout


@pytest.mark.alone
@pytest.mark.torch
def test_a_run_against_pytorch(tmp_path: Path) -> None:
    """Every case has a ratio; the pictures are there when matplotlib is."""
    pytest.importorskip("torch")
    filters = ("--quick", "--filter", "selu_backward/float32/contiguous", "--filter", "c-api")
    done = softnpu_bench(*filters, "--against", "torch", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "results.json").read_text())
    assert all(case["ratio"] > 0 for case in data["cases"])
    assert "torch" in data["versions"]
    has_matplotlib = importlib.util.find_spec("matplotlib") is not None
    # On a busy machine there may be no ratio to draw.
    quiet = any(case["busy"] <= BUSY for case in data["cases"])
    for name in ("speedup", "bandwidth", "time_per_element"):
        expected = has_matplotlib and (quiet or name != "speedup")
        assert (tmp_path / f"{name}.png").is_file() == expected
    assert has_matplotlib or "softnpu[bench]" in done.stderr


def test_a_class_below_the_limit_fails(
    make_results: Callable[..., Results],
    make_row: Callable[..., Row],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With exit status 1, and the class by its name; single cases may be below."""
    rows = [make_row("a", 1.0, 0.5), make_row("b", 1.0, 2.0)]
    bench.judge(make_results(*rows), 0.8)
    rows.append(make_row("c", 1.0, 0.5, group="gather"))
    with pytest.raises(typer.Exit) as failed:
        bench.judge(make_results(*rows), 0.8)
    assert failed.value.exit_code == 1
    assert "gather (0.50x)" in capsys.readouterr().err


def test_a_limit_without_ratios_fails(
    make_results: Callable[..., Results],
    make_row: Callable[..., Row],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What has no peer has not passed, unless no limit is given."""
    results = make_results(make_row("a", 1.0, None))
    bench.judge(results, 0.0)
    with pytest.raises(typer.Exit) as failed:
        bench.judge(results, 0.8)
    assert failed.value.exit_code == 1
    assert "no case has a ratio" in capsys.readouterr().err


def test_where_all_is_disturbed_nothing_is_judged(
    make_results: Callable[..., Results],
    make_row: Callable[..., Row],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A machine that others keep busy fails no limit, but it is said."""
    bench.judge(make_results(make_row("a", 1.0, 0.1, busy=0.5)), 0.8)
    assert "none is judged" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["results.json", "report.txt", "speedup.png"])
def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """Also when only one of the files is in the way."""
    (tmp_path / name).mkdir()
    done = softnpu_bench(*FEW, "--out", tmp_path)
    message = f"softnpu: cannot write to {tmp_path / name}: Is a directory\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--filter", "no such case"], "no case matches"),
        (["--quick", "--filter", "selu*1K"], "bench --list --quick prints"),
        (["--threads", "1025"], "1024"),
        (["--out", "/proc"], "cannot write to /proc: "),
        (["--fail-below", "nan"], "--fail-below is nan"),
        (["--fail-below", "-1"], "--fail-below is -1"),
        (["--fail-below", "inf"], "--fail-below is inf"),
        (["--against", "numpy"], "the only peer is torch"),
        (["--fail-below", "0.8"], "add: --against torch"),
        (["--compare", "missing.json"], "cannot read missing.json"),
    ],
)
def test_wrong_options_are_refused_at_once(args: list[str], message: str) -> None:
    """Before anything is measured."""
    done = softnpu_bench(*args)
    assert done.returncode == 2
    assert message in done.stderr.lower()


def test_the_names_can_be_listed() -> None:
    """One on each line, those that the filters leave."""
    done = softnpu_bench("--list", *FEW)
    assert (done.returncode, done.stdout) == (0, "selu_backward/float32/contiguous/64K\n")


def test_the_list_as_json() -> None:
    """What each case is; the order is that of the names."""
    found = json.loads(softnpu_bench("--list", "--json", *FEW).stdout)
    assert [case["id"] for case in found] == ["selu_backward/float32/contiguous/64K"]
    (case,) = [case for case in table() if case.id == found[0]["id"]]
    assert found[0]["class"] == case.group
    for key in ("operator", "variant", "dtype", "layout", "size", "elements", "bytes"):
        assert found[0][key] == getattr(case, key)


def test_json_is_for_the_list() -> None:
    """A run's numbers are in a file of --out."""
    done = softnpu_bench("--json", *FEW)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json goes with --list" in done.stderr
