# SPDX-License-Identifier: Apache-2.0
"""Clients that are one source file in C++: a server, and an engine whose weights sleep."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.command import run_softnpu

FLAGS = "--cxxflags=-std=c++11 -Wall -Wextra -Wpedantic -Werror"
HERE = Path(__file__).parent

# Eight threads with streams and callbacks, a reserved range of which parts are mapped.
PRINTED = {
    "server_loop": "1000 requests, 1000 callbacks, 50 timeouts, 0 wrong values\n",
    "sleeping_weights": "".join(f"burst {number}, 0 wrong values\n" for number in range(4)),
}

# A step of a client, what stands there in a mistaken one, and what is found.
MISTAKES = {
    "server_loop": [
        (
            "CHECK(aclrtSynchronizeStreamWithTimeout(stream_, 60000));",
            "",
            "memcheck (",
        ),
        (
            "for (void* const device : {input_, output_}) CHECK(aclrtFree(device));",
            "",
            "leakcheck (leaked-memory)",
        ),
    ],
    "sleeping_weights": [
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
}


def softnpu(*arguments: str, source: Path) -> subprocess.CompletedProcess[str]:
    """Compile and run a client by a command of softnpu, which logs nothing."""
    environment = {**os.environ, "SOFTNPU_LOG": "off", "SOFTNPU_BANNER": "0"}
    return run_softnpu(*arguments, FLAGS, source, env=environment)


@pytest.mark.parametrize("client", PRINTED)
@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:7"])
def test_all_requests_are_served(client: str, schedule: str) -> None:
    """Each result is right: callbacks run once, late requests time out, weights wake as before."""
    done = softnpu("run", "--schedule", schedule, source=HERE / f"{client}.cpp")
    assert (done.returncode, done.stdout, done.stderr) == (0, PRINTED[client], "")


@pytest.mark.parametrize("client", PRINTED)
@pytest.mark.parametrize("schedule", ["eager", "deferred"])
def test_clean_under_the_checkers(client: str, schedule: str) -> None:
    """Nothing is found."""
    done = softnpu("check", "--schedule", schedule, source=HERE / f"{client}.cpp")
    assert (done.returncode, done.stdout) == (0, PRINTED[client]), done.stderr


@pytest.mark.parametrize(
    ("client", "right", "wrong", "found"),
    [(client, *mistake) for client, mistakes in MISTAKES.items() for mistake in mistakes],
)
def test_mistakes_are_found(
    tmp_path: Path, client: str, right: str, wrong: str, found: str
) -> None:
    """A client that forgets a step is reported."""
    text = (HERE / f"{client}.cpp").read_text(encoding="utf-8")
    assert right in text
    source = tmp_path / f"{client}.cpp"
    source.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    tool = found.partition(" ")[0]
    done = softnpu("check", "--schedule", "deferred", f"--tool={tool}", source=source)
    assert done.returncode in (86, 87), (done.stdout, done.stderr)
    assert found in done.stderr
