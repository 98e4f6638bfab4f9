# SPDX-License-Identifier: Apache-2.0
"""Processes that communicate: ``hccl`` gives what gloo gives on the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.npu import communicating


@pytest.mark.parametrize(
    ("command", "backend"),
    [("run", "hccl"), ("run", "cpu:gloo,npu:hccl"), ("check", "hccl")],
)
def test_collectives_and_training(tmp_path: Path, command: str, backend: str) -> None:
    """Two processes, with all collectives, DDP, FSDP2 and DTensor: the checkers find nothing."""
    script = Path(communicating.__file__)
    line = [sys.executable, "-m", "softnpu", command, str(script), "--"]
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


UNWRITTEN = """
import torch
import torch.distributed as dist
dist.init_process_group("hccl", store=dist.HashStore(), rank=0, world_size=1)
dist.broadcast(torch.empty(9, device="npu"), 0)
dist.all_reduce(torch.empty(9, device="npu"))
dist.all_gather_into_tensor(torch.empty(9, device="npu"), torch.empty(9, device="npu"))
"""


def test_what_is_sent_must_be_written(run: Any) -> None:
    """A collective reads its inputs, and not its outputs."""
    done = run(UNWRITTEN, "check")
    assert done.returncode == 86, done.stderr
    assert "3 findings" in done.stderr
    reads = ("broadcast_ reads tensors", "allreduce_ reads tensors", "base_ reads input_tensor")
    for each in reads:
        assert f"{each}, but nothing has written" in done.stderr
