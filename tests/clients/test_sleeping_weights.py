# SPDX-License-Identifier: Apache-2.0
"""A serving engine in C++ whose weights sleep: an allocator over the virtual memory functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.programs import softnpu

SOURCE = Path(__file__).parent / "sleeping_weights.cpp"
SERVED = "".join(f"burst {number}, 0 wrong values\n" for number in range(4))


@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:3"])
def test_all_requests_are_served(schedule: str) -> None:
    """Weights are what they were, after each sleep, at the addresses that they had."""
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
        ("      engine.wake();\n", "", "memcheck (unmapped-memory)"),
        (
            "CHECK(aclrtMemcpy(base_, used_, kept_, used_, ACL_MEMCPY_HOST_TO_DEVICE));",
            "",
            "initcheck (uninitialized-read)",
        ),
        ("CHECK(aclrtFreePhysical(pieces_.back()));", "", "leakcheck (leaked-handle)"),
        ("CHECK(aclrtReleaseMemAddress(base_));", "", "leakcheck (leaked-handle)"),
        ("if (!is_asleep_) unmap_all();", "std::exit(0);", "leakcheck (leaked-memory)"),
        (
            "CHECK(aclrtMemcpy(host, used_, base_, used_, ACL_MEMCPY_DEVICE_TO_HOST));",
            "std::memcpy(host, base_, used_);",
            "memcheck (host-access)",
        ),
        (
            "    unmap_all();\n    is_asleep_",
            "unmap_all(); std::memset(base_, 0, 1); is_asleep_",
            "memcheck (host-access)",
        ),
    ],
)
def test_mistakes_are_found(tmp_path: Path, right: str, wrong: str, found: str) -> None:
    """An engine that forgets a step is reported."""
    text = SOURCE.read_text(encoding="utf-8")
    assert right in text
    source = tmp_path / SOURCE.name
    source.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    done = softnpu("check", source=source)
    assert done.returncode in (86, 87), (done.stdout, done.stderr)
    assert found in done.stderr
