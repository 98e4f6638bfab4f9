# SPDX-License-Identifier: Apache-2.0
"""The page on PyTorch programs for NPUs holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from softnpu.torch.npu import fused
from tests.npu import opinfo
from tests.support.documents import blocks
from tests.support.paths import ROOT
from tests.torch.groups import environments

PROGRAMS = blocks("docs/npu.md", "python")
(DISTRIBUTED,) = [block for block in PROGRAMS if "init_process_group" in block.text]
BLOCKS = [block for block in PROGRAMS if block is not DISTRIBUTED]


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_code_blocks_run(place: int, run: Any) -> None:
    """Each by itself, as ``softnpu run`` runs it."""
    done = run(BLOCKS[place].text)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("devices", [2, 1])
def test_processes_run(devices: int, run: Any) -> None:
    """Two ranks, as torchrun starts them: on devices of their own, or on one."""

    def rank(environment: dict[str, str]) -> str:
        device = str(int(environment["RANK"]) % devices)
        settings = {"LOCAL_RANK": device, "SOFTNPU_DEVICES": str(devices)}
        done = run(DISTRIBUTED.text, env=environment | settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with ThreadPoolExecutor(2) as pool:
        printed = list(pool.map(rank, environments(2)))
    assert printed == [f"npu:{number % devices} 2.0\n" for number in range(2)]


def test_the_page_names_what_there_is() -> None:
    """Fused operators, and how many entries of PyTorch's database are compared."""
    text = (ROOT / "docs/npu.md").read_text("utf-8")
    assert [name for name in fused.__all__ if f"{name}`" not in text] == []
    if torch.__version__.startswith("2.13."):
        assert f"the {len(opinfo.op_db)} entries of PyTorch 2.13" in text
