# SPDX-License-Identifier: Apache-2.0
"""Tests that are marked `alone` have the machine to themselves."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from tests.support.alone import Locks, locked, turn


@pytest.fixture
def locks(tmp_path: Path) -> Locks:
    """Locks that no running test holds."""
    made = Locks(tmp_path / "gate", tmp_path / "room")
    for path in made:
        path.touch()
    return made


def test_tests_run_beside_each_other(locks: Locks) -> None:
    """Law: a usual test keeps out those that want to be alone, and no other."""
    with turn(alone=False, locks=locks):
        with turn(alone=False, locks=locks):
            pass
        with (
            pytest.raises(BlockingIOError),
            locked(locks.room, fcntl.LOCK_EX | fcntl.LOCK_NB),
        ):
            pass


def test_a_test_that_is_alone_keeps_all_out(locks: Locks) -> None:
    """Law: while it runs, nothing else does; when it is through, everything may."""
    with (
        turn(alone=True, locks=locks),
        pytest.raises(BlockingIOError),
        locked(locks.room, fcntl.LOCK_SH | fcntl.LOCK_NB),
    ):
        pass
    with locked(locks.room, fcntl.LOCK_EX | fcntl.LOCK_NB):
        pass
