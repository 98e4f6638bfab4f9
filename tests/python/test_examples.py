# SPDX-License-Identifier: Apache-2.0
"""The examples run and print what they promise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

EXAMPLES = ROOT / "examples" / "python"
ELU_RESULT = [
    "result[0] is: 2.000000",
    "result[1] is: -0.000000",
    "result[2] is: 0.000000",
    "result[3] is: 1.000000",
]


@pytest.mark.parametrize("command", [[], ["-m", "softnpu", "run"]], ids=["python", "softnpu run"])
def test_the_two_phase_example_prints_what_the_c_program_prints(command: list[str]) -> None:
    """Started by Python and by `softnpu run`."""
    line = [sys.executable, *command, str(EXAMPLES / "elu_backward_aclnn.py")]
    loud = {name: value for name, value in os.environ.items() if name != "SOFTNPU_BANNER"}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=loud)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ELU_RESULT
    assert done.stderr.startswith("softnpu ")


def test_the_functional_example_runs() -> None:
    """With bfloat16, an output of its own and an error that it catches."""
    line = [sys.executable, str(EXAMPLES / "functional.py")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for part in ("[[ 2. -0.]", "0.7580993", "ACLNN_ERR_PARAM_INVALID (161002)"):
        assert part in done.stdout
