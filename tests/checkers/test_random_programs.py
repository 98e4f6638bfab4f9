# SPDX-License-Identifier: Apache-2.0
"""Random programs: nothing is found in correct ones, and what a model says in the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkers.random_scripts import one_thread, several_threads

INTERPRETER = Path(__file__).parent / "interpreter.cpp"
SEEDS = range(0, 200, 25)  # each stands for those up to the next


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the program that runs the scripts."""
    program = tmp_path_factory.mktemp("interpreter") / "interpreter"
    command = [sys.executable, "-m", "softnpu", "build", str(INTERPRETER), "-o", str(program)]
    subprocess.run(command, check=True, env={**os.environ, "CXXFLAGS": "-O0"})
    return program


def run(interpreter: Path, script: str, folder: Path, checks: str = "all") -> tuple[str, set[str]]:
    """Run a script, and give what it prints, and what was found."""
    file, report = folder / "script", folder / "report"
    file.write_text(script, "utf-8")
    report.unlink(missing_ok=True)
    settings = {
        "SOFTNPU_BANNER": "0",
        "SOFTNPU_CHECK": checks,
        "SOFTNPU_CHECK_REPORT": str(report),
        "SOFTNPU_CHECK_EXITCODE": "0",
    }
    done = subprocess.run(
        [interpreter, file],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, f"{done.stderr}\n{script}"
    lines = report.read_text("utf-8").splitlines() if report.is_file() else []
    findings = [json.loads(line) for line in lines]
    return done.stdout, {f"{one['tool']}/{one['kind']}" for one in findings}


@pytest.mark.parametrize("first", SEEDS)
def test_nothing_is_found_in_correct_programs(
    first: int, interpreter: Path, tmp_path: Path
) -> None:
    """Their results are the same without the checkers."""
    for seed in range(first, first + 25):
        script, expected = one_thread(seed)
        assert not expected
        printed, found = run(interpreter, script, tmp_path)
        assert not found, script
        if seed == first:
            assert run(interpreter, script, tmp_path, "0") == (printed, set())


def test_nothing_is_found_in_correct_threads(interpreter: Path, tmp_path: Path) -> None:
    """Each has a context and streams of its own."""
    for seed in range(10):
        script = several_threads(seed)
        assert not run(interpreter, script, tmp_path)[1], script


# Where order is missing, what is read may be unwritten still.
MISTAKES = {"leave_out": "initcheck/uninitialized-read", "unwritten": "", "leaks": ""}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str, interpreter: Path, tmp_path: Path) -> None:
    """Order that is left out, first writes and releases that are: what the model names."""
    named = set()
    for seed in range(60):
        script, expected = one_thread(seed, **{mistake: 0.15})
        found = run(interpreter, script, tmp_path)[1] - {MISTAKES[mistake]}
        assert found == expected, script
        named |= expected
    kinds = {"leave_out": 4, "unwritten": 1, "leaks": 2}
    assert len(named) == kinds[mistake]
