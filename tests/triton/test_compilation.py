# SPDX-License-Identifier: Apache-2.0
"""Every kernel compiles for NVIDIA's A100, and reads and writes contiguous memory in wide pieces.

What compiles for it compiles for later GPUs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
COMPILER = Path(__file__).with_name("compile_kernels.py")


@pytest.fixture(scope="module", params=[80])
def compiled(request: pytest.FixtureRequest) -> dict[str, list[str]]:
    """The memory instructions of each kernel; a GPU is not needed to compile."""
    environment = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "1"}
    done = subprocess.run(
        [sys.executable, COMPILER, str(request.param)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_all_operators_compile(compiled: dict[str, list[str]]) -> None:
    """Each of the ten, and the two in place are two of them."""
    operators = {label.split()[0] for label in compiled}
    assert operators == {
        "elu",
        "elu_backward",
        "selu",
        "selu_backward",
        "smooth_l1_loss",
        "smooth_l1_loss_backward",
        "upsample_nearest3d",
        "upsample_nearest3d_backward",
        "max_unpool3d",
        "max_unpool3d_backward",
    }


def test_memory_is_accessed_in_wide_pieces(compiled: dict[str, list[str]]) -> None:
    """16 bytes at once where elementwise operands are contiguous."""
    for label, instructions in compiled.items():
        if label.split()[1] == "contiguous":
            assert any(i.startswith("ld.global.v4.b32") for i in instructions), label
            assert any(i.startswith("st.global.v4.b32") for i in instructions), label
