# SPDX-License-Identifier: Apache-2.0
"""`softnpu bench`, and the cases and the report of `python -m benchmarks`."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

pytest.importorskip("torch")

from softnpu.cli import bench
from softnpu.cli.bench import STATEMENTS, Row

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of single calls."""
    for name, seconds in (("SLEEP", 0.0), ("WARM_UP", 0.0), ("ROUND", 1e-9)):
        monkeypatch.setattr(bench, name, seconds)


def ends(capsys: pytest.CaptureFixture[str], call: Any, *arguments: Any) -> tuple[int, str]:
    """The exit status of a command, and what it says."""
    with pytest.raises(typer.Exit) as caught:
        call(*arguments)
    return caught.value.exit_code, capsys.readouterr().err


@pytest.mark.torch
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """It times each operator at each size, and gives each class a mean."""
    bench.command(quick=True)
    lines = capsys.readouterr().out.splitlines()
    cases = [line.split()[0] for line in lines if " us " in line]
    large = [f"{operator}/{size}" for size in ("64K", "1M") for operator in STATEMENTS]
    assert cases == [*(f"calls/{operator}" for operator in STATEMENTS), *large]
    assert [line.split()[0] for line in lines if "at least" in line] == ["calls", *STATEMENTS]


def test_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """Law: the status is 1 if the geometric mean of a class is below the limit."""
    rows = [Row("a/1", 1, 4), Row("a/2", 1, 1), Row("b/1", 2, 1), Row("b/2", 1, 1)]
    bench.conclude(rows, 0.7)
    shown = " ".join(capsys.readouterr().out.split())
    assert shown == "a 2.00x, at least 1.00x b 0.71x, at least 0.50x"
    status, said = ends(capsys, bench.conclude, rows, 0.8)
    assert status == 1
    assert "below 0.8x of PyTorch: b (0.71x)" in said


@pytest.mark.parametrize("limit", [-1.0, math.nan, math.inf])
def test_a_limit_is_a_ratio(limit: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Law: nothing is timed with a limit that cannot be met, or always is."""
    status, said = ends(capsys, bench.command, True, limit)
    assert status == 2
    assert "must be a ratio of 0 or more" in said


def test_without_pytorch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is nothing to compare with then; how to install it is said."""
    monkeypatch.setitem(sys.modules, "torch", None)
    status, said = ends(capsys, bench.command)
    assert status == 1
    assert "pip install 'softnpu[torch]'" in said


@pytest.mark.torch
def test_sides_must_agree(capsys: pytest.CaptureFixture[str]) -> None:
    """Law: where both sides do not do the same, nothing is timed."""
    torch = bench.load_torch()
    names = bench.tensors(torch, "16")
    status, said = ends(capsys, bench.timed, "x", ("elu(x)", "aten.elu(x) + 1"), names, 1)
    assert status == 1
    assert "x: softnpu and PyTorch disagree" in said


@pytest.mark.torch
def test_the_least_counts() -> None:
    """Law: a side's time is that of its fastest round, and sides begin in turn."""
    torch = bench.load_torch()
    order: list[str] = []

    def slow(name: str) -> Any:
        order.append(name)
        return torch.ones(1)

    names = {**bench.tensors(torch, "16"), "slow": slow}
    row = bench.timed("x", ("slow('a')", "slow('b')"), names, 2)
    assert order == ["a", "b", *"aaaaabbbbb", *"bbaa", *"aabb"]
    assert 0 < row.ours < 1
    assert 0 < row.peer < 1


@pytest.mark.torch
def test_cases_agree() -> None:
    """Law: each case of the developers' table has two sides that do the same."""
    from benchmarks.cases import table

    cases = list(table())
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        if case.size == "64K" or case.name.startswith("calls/"):
            assert bench.timed(case.name, case.statements, case.prepare(), 1).ours > 0


@pytest.mark.torch
def test_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Law: what a run prints can be compared with; ratios that moved by noise are left out."""
    from benchmarks.__main__ import read, show_changes

    old = [Row("a b/64K", 1e-6, 2e-6), Row("c/1M", 1e-3, 2e-3), Row("d/16M", 1, 1)]
    (tmp_path / "old.txt").write_text("\n".join(["heading", *map(str, old), ""]))
    before = read(tmp_path / "old.txt")
    assert before == {"a b/64K": 2.0, "c/1M": 2.0, "d/16M": 1.0}
    now = [Row("a b/64K", 1e-6, 1e-6), Row("c/1M", 1e-3, 1.9e-3), Row("e/16M", 1, 1)]
    show_changes(before, now)
    assert " ".join(capsys.readouterr().out.split()) == "a b/64K 0.50x as fast as before"
