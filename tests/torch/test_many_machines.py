# SPDX-License-Identifier: Apache-2.0
"""The pages on many machines: their programs run, and their tables are what the script prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch.distributed

from tests.support.documents import blocks
from tests.support.paths import ROOT
from tests.torch.groups import run_group

pytestmark = pytest.mark.torch
PROGRAMS = blocks("docs/many-machines.md", "python")
SCRIPT = str(ROOT / "benchmarks" / "scale.py")


def test_the_page_has_programs() -> None:
    """Those that the next test runs."""
    assert len(PROGRAMS) == 2


@pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch without distributed")
@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_programs_run_in_two_processes(place: int, tmp_path: Path) -> None:
    """Each as it stands; what a comment says is printed."""
    text = PROGRAMS[place].text
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    printed = run_group(2, ["program.py"], tmp_path)
    for promised in re.findall(r"print\(.*\)  # (\(.*\))$", text, re.M):
        assert all(promised in one for one in printed)


def test_the_tables_are_those_of_the_script(tmp_path: Path) -> None:
    """With the numbers that the page names; the picture is drawn from them, too."""
    pytest.importorskip("matplotlib")
    page = (ROOT / "docs" / "scale.md").read_text("utf-8")
    given = re.search(r"scale\.py (--bandwidth.*--out \S+)", page)
    assert given is not None
    command = [sys.executable, SCRIPT, *given[1].split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len(rows) > 20
    assert [row for row in rows if row not in page] == []
    assert (tmp_path / "scale.png").stat().st_size > 5000


def test_the_script_measures_this_machine() -> None:
    """Without numbers, it finds its own; networks are a parameter."""
    small = ["--channels", "2", "--size", "8", "--rounds", "1", "--network", "25"]
    done = subprocess.run([sys.executable, SCRIPT, *small], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = re.search(r"--bandwidth (\S+) --convolutions (\S+)", done.stdout)
    assert found is not None
    assert float(found[1]) > 0
    assert float(found[2]) > 0
    assert done.stdout.count("GB/s") == 10
    assert "| 25 | 1,024 |" in done.stdout
