# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from softnpu import acl
from tests.python.two_phases import Bench
from tests.support.process import importing_tests

REPEAT_INITIALIZE = 100002


@pytest.fixture
def stream() -> Iterator[int]:
    """A stream on device 0 of this thread; the process stays initialised."""
    assert acl.init() in (0, REPEAT_INITIALIZE)
    assert acl.rt.set_device(0) == 0
    made, ret = acl.rt.create_stream()
    assert ret == 0
    yield made
    acl.rt.destroy_stream_force(made)
    acl.rt.reset_device(0)
    acl.get_recent_err_msg()


@pytest.fixture
def bench(stream: int) -> Iterator[Bench]:
    """A bench on the stream."""
    made = Bench(stream)
    yield made
    for block in made.blocks:
        acl.rt.free(block)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Run a program in a Python of its own, in an empty folder, and return what it prints."""

    def run(text: str) -> str:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", text],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=importing_tests(),
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def no_forced_switches() -> Iterator[None]:
    """A thread that does not release the GIL keeps it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)
