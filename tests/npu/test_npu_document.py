# SPDX-License-Identifier: Apache-2.0
"""The page on PyTorch programs for NPUs holds."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from softnpu.torch.npu import fused
from tests.npu import opinfo
from tests.support.documents import blocks
from tests.support.paths import ROOT

BLOCKS = blocks("docs/npu.md", "python")


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_code_blocks_run(place: int, run: Any) -> None:
    """Each by itself, as ``softnpu run`` runs it."""
    done = run(BLOCKS[place].text)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_page_names_what_there_is() -> None:
    """Fused operators, and how many entries of PyTorch's database are compared."""
    text = (ROOT / "docs/npu.md").read_text("utf-8")
    own = {"get_npu_format", "npu_dtype_cast"}
    assert [name for name in set(fused.__all__) - own if f"`{name}`" not in text] == []
    if torch.__version__.startswith("2.13."):
        assert f"the {len(opinfo.op_db)} entries of PyTorch 2.13" in text
