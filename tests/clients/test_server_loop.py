# SPDX-License-Identifier: Apache-2.0
"""A server in C++: eight threads with streams, 1,000 requests, callbacks, timeouts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.programs import softnpu

SOURCE = Path(__file__).parent / "server_loop.cpp"
SERVED = "1000 requests, 1000 callbacks, 50 timeouts, 0 wrong values\n"


@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:7"])
def test_all_requests_are_served(schedule: str) -> None:
    """Each result is right, each callback runs once, and each late request times out once."""
    done = softnpu("run", "--schedule", schedule, source=SOURCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, SERVED, "")


@pytest.mark.parametrize("schedule", ["eager", "deferred"])
def test_clean_under_the_checkers(schedule: str) -> None:
    """Nothing is found."""
    done = softnpu("check", "--schedule", schedule, source=SOURCE)
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
