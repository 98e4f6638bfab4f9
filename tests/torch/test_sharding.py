# SPDX-License-Identifier: Apache-2.0
"""Operators on DTensors, in groups of processes that talk over gloo."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import torch.distributed

import softnpu.functional
from softnpu.torch.recording import meet_distributed
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


def test_rules_wait_for_distributed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without DTensors does not load what is for them."""
    rules = "softnpu.torch.sharding"
    monkeypatch.delitem(sys.modules, rules, raising=False)
    monkeypatch.delitem(sys.modules, "torch.distributed.tensor", raising=False)
    meet_distributed()
    assert rules not in sys.modules


LATE = """
import sys, types
import torch, torch.distributed

rules = "softnpu.torch.sharding"
sys.modules[rules] = types.ModuleType(rules)  # as if PyTorch had loaded no DTensors
import softnpu.torch
del sys.modules[rules]
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

torch.distributed.init_process_group("gloo")
x = distribute_tensor(torch.ones(3), init_device_mesh("cpu", (1,)), [Shard(0)])
print(torch.ops.softnpu.elu(x).placements, rules in sys.modules)
torch.distributed.destroy_process_group()
"""


def test_the_first_call_registers_the_rules(tmp_path: Path) -> None:
    """DTensors may be loaded after softnpu.torch."""
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    assert run_group(1, ["late.py"], tmp_path) == ["(Shard(dim=0),) True\n"]


def test_sharded_calls_give_what_one_process_gives(tmp_path: Path) -> None:
    """On every placement, without communication where it is legal, and with derivatives."""
    printed = run_group(3, [str(ROOT / "tests" / "torch" / "sharded.py")], tmp_path)
    assert all("checks passed" in text for text in printed)


def test_the_example_learns_in_two_processes_what_one_learns(tmp_path: Path) -> None:
    """Under DDP and under FSDP2, the losses are those of one process."""
    pytest.importorskip("matplotlib")
    program = [str(ROOT / "examples" / "torch" / "train.py"), "--steps", "4", "--size", "8"]
    alone = _losses(run_group(1, program, tmp_path)[0])
    assert len(alone) == 4  # the first and the last step's, of two sets of layers
    for parallel in ("ddp", "fsdp"):
        first, _second = run_group(2, [*program, "--parallel", parallel], tmp_path)
        assert _losses(first) == pytest.approx(alone, abs=2e-6)


def _losses(printed: str) -> list[float]:
    """Both numbers of the lines that say what was learnt."""
    found = re.findall(r"loss ([0-9.]+) -> ([0-9.]+) in", printed)
    return [float(number) for pair in found for number in pair]
