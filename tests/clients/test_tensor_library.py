# SPDX-License-Identifier: Apache-2.0
"""A tensor library on pyACL and ctypes: cached memory, deferred frees, contexts of threads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.command import run_softnpu

PROGRAM = Path(__file__).parent / "fit_elu.py"
FITTED = [f"thread {number}: fitted" for number in range(4)]


def softnpu(
    *arguments: str, program: Path = PROGRAM, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the program by a command of softnpu; it destroys executors late, which is logged."""
    settings = {"SOFTNPU_LOG": "off", "SOFTNPU_BANNER": "0", **environment}
    return run_softnpu(*arguments, program, env={**os.environ, **settings})


@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:7"])
def test_results(schedule: str) -> None:
    """Values and gradients are NumPy's in each thread, whenever the device does its work."""
    done = softnpu("run", "--schedule", schedule)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(",")[0] for line in done.stdout.splitlines()] == FITTED


@pytest.mark.parametrize("schedule", ["eager", "deferred"])
def test_clean_under_the_checkers(schedule: str) -> None:
    """Nothing is found: each workspace is freed when its work is done."""
    done = softnpu("check", "--schedule", schedule)
    assert done.returncode == 0, done.stderr
    assert "no findings" in done.stderr
    # Under the checkers, every operator has a workspace.
    assert done.stdout.splitlines() == [f"{line}, freed later" for line in FITTED]


def test_frees_that_do_not_wait(tmp_path: Path) -> None:
    """The same library is reported if it frees workspaces without waiting for the stream."""
    text = PROGRAM.with_name("tensor_library.py").read_text(encoding="utf-8")
    waits = "session.defer(lambda: session.memory.free(workspace))"
    assert waits in text
    hasty = "session.memory.free(workspace); session.memory.empty_cache()"
    (tmp_path / "tensor_library.py").write_text(text.replace(waits, hasty), encoding="utf-8")
    program = tmp_path / PROGRAM.name
    program.write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    done = softnpu("check", "--tool=memcheck", "--schedule=deferred", program=program)
    assert done.returncode == 86, done.stderr
    assert "memcheck" in done.stderr


def test_nothing_is_missing() -> None:
    """Softnpu has all that the library looks up."""
    done = softnpu("run", "--explain-missing")
    assert (done.returncode, done.stderr[:26]) == (0, "softnpu: missing: nothing;")
