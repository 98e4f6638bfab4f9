# SPDX-License-Identifier: Apache-2.0
"""Operators on DTensors, in groups of processes that talk over gloo."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch.distributed

import softnpu.functional
from tests.support.paths import ROOT
from tests.torch.groups import run_group

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch without distributed"),
]


def test_every_operator_has_a_rule() -> None:
    """Those in place are copies of the results of those that are not."""
    from softnpu.torch.sharding import RULES

    names = set(softnpu.functional.__all__) - {"Array"}
    assert {name.removesuffix("_") for name in names} == set(RULES)


def test_importing_softnpu_leaves_distributed_alone() -> None:
    """The rules wait for DTensors, whose import takes a while."""
    text = "import sys, softnpu.torch; sys.exit('torch.distributed.tensor' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text]).returncode == 0


@pytest.mark.parametrize("processes", [2, 4])
def test_sharded_calls_give_what_one_process_gives(processes: int, tmp_path: Path) -> None:
    """On every placement, without communication where it is legal, and with derivatives."""
    printed = run_group(processes, ["-m", "tests.torch.sharded"], tmp_path)
    assert all("checks passed" in text for text in printed)


def test_the_example_learns_in_two_processes_what_one_learns(tmp_path: Path) -> None:
    """Under DDP and under FSDP2, the losses are those of one process."""
    pytest.importorskip("matplotlib")
    program = [str(ROOT / "examples" / "torch" / "train.py"), "--steps", "5", "--size", "8"]
    alone = _losses(run_group(1, program, tmp_path)[0])
    assert len(alone) == 4  # the first and the last step's, of two sets of layers
    for parallel in ("ddp", "fsdp"):
        first, _second = run_group(2, [*program, "--parallel", parallel], tmp_path)
        assert _losses(first) == pytest.approx(alone, abs=2e-6)


def _losses(printed: str) -> list[float]:
    """Both numbers of the lines that say what was learnt."""
    found = re.findall(r"loss ([0-9.]+) -> ([0-9.]+) in", printed)
    return [float(number) for pair in found for number in pair]
