# SPDX-License-Identifier: Apache-2.0
"""The runtime's own programs under the checkers: they see the same as without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_native import compile_and_run
from tests.support.process import SANITIZED

# memcheck asks for a workspace where these know that they need none.
NO_WORKSPACE = "initcheck,racecheck,synccheck,leakcheck"
PROGRAMS = {
    "at_exit": "all",
    "busy_streams": "all",
    "concurrency": NO_WORKSPACE,
    "deep_chains": "all",
    "ended_threads": "all",
    "forced_ends": "all",
    "last_failures": NO_WORKSPACE,
    "small_stacks": NO_WORKSPACE,
    "throwing_callback": "all",
}
NOT_SANITIZED = {"ended_threads", "small_stacks"}


def settings(tools: str) -> dict[str, str]:
    """Check, and let the program decide how it ends."""
    return {
        "SOFTNPU_CHECK": tools,
        "SOFTNPU_CHECK_REPORT": "/dev/null",
        "SOFTNPU_CHECK_EXITCODE": "0",
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, tmp_path: Path) -> None:
    """Many threads, ends of all kinds: no crash, and the same codes."""
    if SANITIZED and name in NOT_SANITIZED:
        pytest.skip("tests/runtime/test_native.py says why")
    done = compile_and_run(name, tmp_path, environment=settings(PROGRAMS[name]))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(SANITIZED, reason="a fork leaves the locks of a sanitizer's allocator held")
@pytest.mark.parametrize("case", ["others call", "a stream runs", "a callback waits"])
def test_forks(case: str, tmp_path: Path) -> None:
    """A child finds the locks free, whatever the other threads did."""
    done = compile_and_run("forked_child", tmp_path, arguments=(case,), environment=settings("all"))
    assert done.returncode == 0, done.stderr
