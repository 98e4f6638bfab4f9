# SPDX-License-Identifier: Apache-2.0
"""A server in C++: eight threads with streams, 1,000 requests, callbacks, timeouts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "server_loop.cpp"
SERVED = "1000 requests, 1000 callbacks, 50 timeouts, 0 wrong values\n"
FLAGS = "--cxxflags=-std=c++11 -Wall -Wextra -Wpedantic -Werror"


def softnpu(*arguments: str, source: Path = SOURCE) -> subprocess.CompletedProcess[str]:
    """Compiles and runs the server by a command of softnpu; its timeouts are not logged."""
    return subprocess.run(
        [sys.executable, "-m", "softnpu", *arguments, FLAGS, str(source)],
        env={**os.environ, "SOFTNPU_LOG": "off", "SOFTNPU_BANNER": "0"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:7"])
def test_all_requests_are_served(schedule: str) -> None:
    """Each result is right, each callback runs once, and each late request times out once."""
    done = softnpu("run", "--schedule", schedule)
    assert (done.returncode, done.stdout, done.stderr) == (0, SERVED, "")


@pytest.mark.parametrize("schedule", ["eager", "deferred"])
def test_clean_under_the_checkers(schedule: str) -> None:
    """Nothing is found."""
    done = softnpu("check", "--schedule", schedule)
    assert (done.returncode, done.stdout) == (0, SERVED), done.stderr


@pytest.mark.parametrize(
    ("right", "wrong", "found"),
    [
        ("CHECK(aclrtSynchronizeStreamWithTimeout(stream_, 60000));", "", "memcheck"),
        ("for (void* const device : {input_, output_}) CHECK(aclrtFree(device));", "", "leakcheck"),
    ],
)
def test_mistakes_are_found(tmp_path: Path, right: str, wrong: str, found: str) -> None:
    """The same server is reported if it does not wait, or leaks."""
    text = SOURCE.read_text(encoding="utf-8")
    assert right in text
    source = tmp_path / SOURCE.name
    source.write_text(text.replace(right, wrong), encoding="utf-8")
    done = softnpu("check", "--schedule", "deferred", f"--tool={found}", source=source)
    assert done.returncode == 86, (done.stdout, done.stderr)
    assert found in done.stderr
