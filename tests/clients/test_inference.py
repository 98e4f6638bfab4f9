# SPDX-License-Identifier: Apache-2.0
"""An inference runtime in C++ that captures a model once and replays it for each request."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SOURCE = ROOT / "tests" / "clients" / "inference"
SCHEDULES = ["eager", "deferred", "random:1", "random:2"]


def command(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of softnpu, or another one, in an environment of one's own."""
    return subprocess.run(
        [str(word) for word in words],
        env={**os.environ, "SOFTNPU_BANNER": "0", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def inference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built by CMake in an environment that names the toolkit and nothing else."""
    beside = Path(sys.executable).parent / "cmake"
    cmake = str(beside) if beside.exists() else shutil.which("cmake")
    if cmake is None:
        pytest.skip("needs cmake")
    sdk = command(sys.executable, "-m", "softnpu", "sdk").stdout.strip()
    build = tmp_path_factory.mktemp("inference")
    for words in (
        ["-S", SOURCE, "-B", build, "-DCMAKE_BUILD_TYPE=Release"],
        ["--build", build, "-j2"],
    ):
        done = command(cmake, *words, ASCEND_HOME_PATH=sdk)
        assert done.returncode == 0, done.stdout + done.stderr
    return build / "inference"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_it_serves_requests(inference: Path, schedule: str) -> None:
    """Each replay takes the new input; the answers are those of the model on the host."""
    done = command(inference, SOFTNPU_SCHEDULE=schedule)
    assert (done.returncode, done.stdout) == (0, "8 requests served\n"), done.stderr


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_checkers_find_nothing(inference: Path, schedule: str) -> None:
    """All of them, in each schedule."""
    words = [sys.executable, "-m", "softnpu", "check", "--schedule", schedule, inference]
    done = command(*words)
    assert (done.returncode, done.stdout) == (0, "8 requests served\n"), done.stderr


def test_freed_memory_is_found(inference: Path) -> None:
    """A replay after a free is refused, and memcheck says where the memory was freed."""
    done = command(inference, "free")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "after a free: 107000")
    done = command(sys.executable, "-m", "softnpu", "check", inference, "free")
    assert done.returncode == 86
    assert "memcheck (use-after-free): aclmdlRIExecuteAsync: aclrtMemcpyAsync" in done.stderr
    assert "apicheck (failed-call): aclrtFree: devPtr is null" in done.stderr  # the same at the end
    assert "2 findings;" in done.stderr, done.stderr
