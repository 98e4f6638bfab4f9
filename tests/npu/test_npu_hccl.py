# SPDX-License-Identifier: Apache-2.0
"""Processes that communicate: ``hccl`` gives what gloo gives on the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.npu import communicating


@pytest.mark.parametrize("backend", ["hccl", "cpu:gloo,npu:hccl"])
def test_collectives_and_training(tmp_path: Path, backend: str) -> None:
    """Two processes, with all collectives, DDP, FSDP2 and DTensor."""
    script = Path(communicating.__file__)
    line = [sys.executable, "-m", "softnpu", "run", str(script), "--"]
    environment = {**os.environ, "SOFTNPU_BANNER": "0", "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [*line, str(rank), str(tmp_path / "store"), backend],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for rank in range(2)
    ]
    for process in processes:
        out, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
        on_cpu, on_npu = out.splitlines()
        assert on_cpu == on_npu
