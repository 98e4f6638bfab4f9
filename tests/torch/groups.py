# SPDX-License-Identifier: Apache-2.0
"""Groups of processes that talk over gloo on 127.0.0.1."""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.paths import ROOT

TIMEOUT = 300  # seconds, after which a group is stopped


def run_group(processes: int, arguments: Sequence[str], folder: Path) -> list[str]:
    """Run a script in each process of a group; give what each printed, or fail with it."""
    group = [_start(arguments, environment, folder) for environment in environments(processes)]
    end = time.monotonic() + TIMEOUT
    try:
        printed = [p.communicate(timeout=max(1, end - time.monotonic()))[0] for p in group]
    finally:
        for process in group:
            process.kill()
    for process, text in zip(group, printed, strict=True):
        assert process.returncode == 0, text
    return printed


def environments(processes: int) -> list[dict[str, str]]:
    """Give what tells each process of a group its rank, as torchrun does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return [
        {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(processes),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": "1",
            "SOFTNPU_THREADS": "1",
        }
        for rank in range(processes)
    ]


def _start(
    arguments: Sequence[str], environment: dict[str, str], folder: Path
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.torch.groups", *arguments],
        cwd=folder,
        env=os.environ | environment | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _run() -> None:
    """Run a script, and leave without taking the interpreter down.

    PyTorch's gloo threads outlive destroy_process_group() where DistributedDataParallel was used.
    One that lets go of a tensor while Python ends aborts the process.
    """
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    _run()
