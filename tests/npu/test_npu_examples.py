# SPDX-License-Identifier: Apache-2.0
"""Programs with well-known packages, unchanged: each runs where its package is installed.

CI installs accelerate, which brings safetensors. For the others:
`pip install transformers peft diffusers torchvision lightning`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PROGRAMS = sorted((ROOT / "examples/npu").glob("use_*.py"))


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda file: file.stem)
def test_it_runs_without_findings(program: Path, command: str, tmp_path: Path) -> None:
    """It uses the device, whatever it asks is true, and the checkers find nothing."""
    for package in ("transformers", program.stem.removeprefix("use_")):
        if f"from {package}" in program.read_text("utf-8"):
            pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, "-m", "softnpu", command, str(program)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SOFTNPU_BANNER": "0", "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "npu" in done.stdout
    assert "False" not in done.stdout
