# SPDX-License-Identifier: Apache-2.0
"""Clients: a server, an engine whose weights sleep, a tensor library on pyACL, a document's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.command import run_softnpu
from tests.support.documents import blocks

FLAGS = "--cxxflags=-std=c++11 -Wall -Wextra -Wpedantic -Werror"
HERE = Path(__file__).parent

# Eight threads with streams and callbacks; a reserved range of which parts are mapped; contexts
# of four threads with cached memory and deferred frees.
PRINTED = {
    "server_loop.cpp": "1000 requests, 1000 callbacks, 50 timeouts, 0 wrong values\n",
    "sleeping_weights.cpp": "".join(f"burst {number}, 0 wrong values\n" for number in range(4)),
    "fit_elu.py": "".join(f"thread {number}: fitted\n" for number in range(4)),
}

# A step of a client, what stands there in a mistaken one, and what is found.
MISTAKES = {
    "server_loop.cpp": [
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
    "sleeping_weights.cpp": [
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
    "tensor_library.py": [
        (
            "session.defer(lambda: session.memory.free(workspace))",
            "session.memory.free(workspace); session.memory.empty_cache()",
            "memcheck (",
        ),
    ],
}


def softnpu(*arguments: str, source: Path) -> subprocess.CompletedProcess[str]:
    """Run a client by a command of softnpu, which logs nothing."""
    environment = {**os.environ, "SOFTNPU_LOG": "off", "SOFTNPU_BANNER": "0"}
    flags = [FLAGS] if source.suffix == ".cpp" else []
    return run_softnpu(*arguments, *flags, source, env=environment)


@pytest.mark.parametrize("client", PRINTED)
@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:7"])
def test_all_requests_are_served(client: str, schedule: str) -> None:
    """Each result is right: callbacks run once, late requests time out, weights wake as before."""
    done = softnpu("run", "--schedule", schedule, source=HERE / client)
    assert (done.returncode, done.stdout, done.stderr) == (0, PRINTED[client], "")


@pytest.mark.parametrize("client", PRINTED)
@pytest.mark.parametrize("schedule", ["eager", "deferred"])
def test_clean_under_the_checkers(client: str, schedule: str) -> None:
    """Nothing is found."""
    done = softnpu("check", "--schedule", schedule, source=HERE / client)
    assert (done.returncode, done.stdout) == (0, PRINTED[client]), done.stderr


@pytest.mark.parametrize(
    ("client", "right", "wrong", "found"),
    [(client, *mistake) for client, mistakes in MISTAKES.items() for mistake in mistakes],
)
def test_mistakes_are_found(
    tmp_path: Path, client: str, right: str, wrong: str, found: str
) -> None:
    """A client that forgets a step is reported."""
    for file in HERE.glob("*.py"):
        shutil.copy(file, tmp_path)
    text = (HERE / client).read_text(encoding="utf-8")
    assert right in text
    (tmp_path / client).write_text(text.replace(right, wrong, 1), encoding="utf-8")
    source = tmp_path / client.replace("tensor_library", "fit_elu")
    tool = found.partition(" ")[0]
    done = softnpu("check", "--schedule", "deferred", f"--tool={tool}", source=source)
    assert done.returncode in (86, 87), (done.stdout, done.stderr)
    assert found in done.stderr


def test_nothing_is_missing() -> None:
    """Softnpu has all that the tensor library looks up."""
    done = softnpu("run", "--explain-missing", source=HERE / "fit_elu.py")
    assert (done.returncode, done.stderr[:26]) == (0, "softnpu: missing: nothing;")


@pytest.mark.parametrize("command", ["run", "check"])
def test_the_program_of_a_document(command: str, tmp_path: Path) -> None:
    """docs/graphs.md: its program runs as it stands, prints what is shown, and has no finding."""
    (program,), (shown,) = blocks("docs/graphs.md", "cpp"), blocks("docs/graphs.md", "text")
    source = tmp_path / "graph.cpp"
    source.write_text(program.text, encoding="utf-8")
    done = softnpu(command, source=source)
    assert (done.returncode, done.stdout) == (0, shown.text), done.stderr
