# SPDX-License-Identifier: Apache-2.0
"""Operators on DTensors, in groups of processes that talk over gloo."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch.distributed

from tests.torch.groups import run_group

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch without distributed"),
]


@pytest.mark.parametrize("processes", [2, 4])
def test_sharded_calls_give_what_one_process_gives(processes: int, tmp_path: Path) -> None:
    """On every placement, without communication where it is legal, and with derivatives."""
    printed = run_group(processes, ["-m", "tests.torch.sharded"], tmp_path)
    assert all("checks passed" in text for text in printed)
