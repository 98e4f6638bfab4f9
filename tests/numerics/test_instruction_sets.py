# SPDX-License-Identifier: Apache-2.0
"""All instruction sets that this machine can run agree."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from softnpu import _core
from softnpu.judging.ulp import distance, same_bits
from tests.support.cases import Case, cases
from tests.support.paths import ROOT

AVAILABLE: list[str] = list(_core.info()["isa_available"])
SIZES = ("small", "large")
CASES = [(size, case) for size in SIZES for case in cases(size)]

# Runs in a process of its own, because an instruction set is chosen when the library is loaded.
PROBE = """
import sys, numpy as np
from softnpu import _core
from tests.support.cases import cases
results = {}
for size in ("small", "large"):
    for case in cases(size):
        result = np.atleast_1d(case.call(*case.inputs))  # bytes of rank 0 have no view
        results[f"{size} {case.name}"] = result.view(np.uint8)
np.savez(sys.argv[1], isa=np.array(_core.info()["isa"]), **results)
"""

Results = dict[str, npt.NDArray[np.uint8]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Results]:
    """Run all cases once for each instruction set; return the bytes of their results."""
    folder = tmp_path_factory.mktemp("isa")
    done: dict[str, Results] = {}

    def of(isa: str) -> Results:
        if isa not in done:
            path = folder / f"{isa}.npz"
            paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
            env = {**os.environ, "SOFTNPU_ISA": isa, "PYTHONPATH": paths}
            command = [sys.executable, "-c", PROBE, str(path)]
            ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stderr
            with np.load(path) as stored:
                done[isa] = {name: stored[name] for name in stored.files}
        return done[isa]

    return of


def test_this_process_has_the_instruction_set_it_was_started_with() -> None:
    """Law: a run of the tests with SOFTNPU_ISA is one on that set, without it on the best one."""
    assert _core.info()["isa"] == os.environ.get("SOFTNPU_ISA", AVAILABLE[0])


@pytest.mark.parametrize("isa", AVAILABLE)
def test_the_setting_is_taken(isa: str, results: Callable[[str], Results]) -> None:
    """Law: SOFTNPU_ISA selects the named instruction set; the comparison below is no tautology."""
    assert str(results(isa)["isa"]) == isa


@pytest.mark.parametrize("isa", AVAILABLE)
@pytest.mark.parametrize(("size", "case"), CASES, ids=lambda v: v if isinstance(v, str) else v.name)
def test_instruction_sets_agree(
    size: str, case: Case, isa: str, results: Callable[[str], Results]
) -> None:
    """Law: same bytes on every instruction set; within 1 ULP where the formula has an exp."""
    name = f"{size} {case.name}"
    got, expected = (results(level)[name].view(case.result) for level in (isa, AVAILABLE[-1]))
    if case.has_exp:
        assert distance(got, expected.astype(np.float64), zero_sign=True).max() <= 1
    else:
        assert same_bits(got, expected)
