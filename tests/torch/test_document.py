# SPDX-License-Identifier: Apache-2.0
"""The pages on PyTorch and GPUs and the example run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.support.documents import blocks, run_python
from tests.support.paths import ROOT

pytestmark = pytest.mark.torch

BLOCKS = blocks("docs/pytorch.md", "python")
GPU_BLOCKS = blocks("docs/gpus.md", "python")


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_code_blocks_run(place: int, tmp_path: Path) -> None:
    """Each by itself, in a process of its own."""
    done = run_python(BLOCKS[place].text, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("place", range(len(GPU_BLOCKS)))
def test_code_blocks_run_on_a_gpu(place: int, tmp_path: Path) -> None:
    """The page on GPUs; on other machines it is only compiled."""
    done = run_python(GPU_BLOCKS[place].text, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("place", range(len(GPU_BLOCKS)))
def test_code_blocks_for_gpus_run_on_fake_tensors(place: int, tmp_path: Path) -> None:
    """Names, arguments and shapes are right, as far as a machine without a GPU can tell."""
    text = GPU_BLOCKS[place].text
    if "fake" not in text.splitlines()[0]:
        compile(text, "docs/gpus.md", "exec")
        return
    done = run_python(text, tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_page_names_every_operator() -> None:
    """The table is complete."""
    import softnpu

    text = (ROOT / "docs/pytorch.md").read_text("utf-8")
    names = set(softnpu.functional.__all__) - {"Array"}
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_example_trains(tmp_path: Path) -> None:
    """Both sets of layers learn alike, step by step, and the picture is there."""
    pytest.importorskip("matplotlib")
    program = ROOT / "examples" / "torch" / "train.py"
    done = subprocess.run(
        [sys.executable, str(program), "--steps", "6", "--size", "12", "--out", "losses.png"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    apart = re.search(r"largest difference of a step's losses: (\S+) of the loss", done.stdout)
    assert apart is not None
    assert float(apart[1]) < 1e-3
    assert (tmp_path / "losses.png").stat().st_size > 5000
