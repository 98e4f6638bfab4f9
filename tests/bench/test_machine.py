# SPDX-License-Identifier: Apache-2.0
"""What the benchmark asks of the machine."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from softnpu.bench import machine


def resident() -> int:
    """Bytes of this process that are in memory."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc keeps and returns memory so"
)
def test_freed_memory_is_returned_to_the_system() -> None:
    """So that results of one case are not made where another's arrays were."""
    blocks = [bytearray(b"x" * 100_000) for _ in range(1_200)]
    del blocks[::2]  # between blocks that stay: the allocator cannot return these at once
    before = resident()
    machine.return_freed_memory()
    assert before - resident() > 30 << 20
