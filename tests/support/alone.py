# SPDX-License-Identifier: Apache-2.0
"""Tests take turns: one that is marked `alone` runs while no other process runs a test."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple


class Locks(NamedTuple):
    """Two files to lock. Their contents do not matter."""

    gate: Path
    room: Path


# Files that all processes have, so that nobody has to tell them a name.
OURS = Locks(Path(__file__), Path(__file__).with_name("paths.py"))


@contextmanager
def turn(alone: bool, locks: Locks = OURS) -> Iterator[None]:
    """Wait for a turn, beside others or alone, and hold it.

    The lock of the room is shared by tests that run at once. The gate keeps it fair: whoever waits
    to be alone holds the gate, or new tests would come in for ever.
    """
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    with ExitStack() as held:
        with locked(locks.gate, kind):
            held.enter_context(locked(locks.room, kind))
        yield


@contextmanager
def locked(path: Path, kind: int) -> Iterator[None]:
    """Hold a lock on a file."""
    with path.open(encoding="utf-8") as file:
        fcntl.flock(file, kind)
        yield
