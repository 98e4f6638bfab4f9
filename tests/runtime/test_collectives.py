# SPDX-License-Identifier: Apache-2.0
"""hccl: collectives between processes, and between the ranks of one process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.native import WITHOUT_OPERATORS, compiled

RANKS = "3"


@pytest.fixture(scope="module")
def program() -> Path:
    """What each process runs."""
    return compiled("collectives", [*WITHOUT_OPERATORS, "-lhccl"])


def test_processes(program: Path, tmp_path: Path) -> None:
    """All collectives are right, and the end of a process is a failure in the others."""
    group = [
        subprocess.Popen(
            [program, tmp_path / "root", str(rank), RANKS],
            env={**os.environ, "SOFTNPU_BANNER": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(int(RANKS))
    ]
    printed = [process.communicate(timeout=300)[0] for process in group]
    assert [text.splitlines()[-1:] for text in printed] == [["right"], ["right"], []], printed
    assert [process.returncode for process in group] == [0, 0, 0]
    assert not list(Path("/dev/shm").glob(f"softnpu-hccl-{group[0].pid}-*"))


@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:1"])
def test_ranks_of_one_process(program: Path, schedule: str) -> None:
    """A thread may launch the work of all ranks, one after the other."""
    environment = {**os.environ, "SOFTNPU_SCHEDULE": schedule}
    done = subprocess.run(
        [program, RANKS], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
