# SPDX-License-Identifier: Apache-2.0
"""The benchmark for GPUs, as far as a machine without one can run it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

import softnpu.triton as gpu

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What is timed, on small tensors in the CPU's memory."""
    spec = importlib.util.spec_from_file_location("gpu_cases", BENCHMARKS / "gpu_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gpu_cases", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DEVICE", "cpu")
    monkeypatch.setattr(module, "ELEMENTS", 2**11)
    monkeypatch.setattr(module, "SMALL", dict.fromkeys((2.0, 1.5, 3.3), (1, 3, 2, 4, 10)))
    monkeypatch.setattr(module, "UNPOOLED", (1, 2, 4, 8, 6))
    return module


def test_both_sides_of_every_case_compute_the_same(cases: ModuleType) -> None:
    """Else their times could not be compared."""
    labels = set()
    for make in cases.timed_cases(gpu):
        case = make()
        labels.add(case.label)
        assert case.bytes > 0
        if "torch" not in case.sides:
            continue
        ours, theirs = case.sides["softnpu"]().clone(), case.sides["torch"]()
        accuracy = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 3e-2}[ours.dtype]
        torch.testing.assert_close(ours, theirs.view_as(ours), rtol=accuracy, atol=accuracy)
    assert len(labels) == 1 + 2 * 13 + 4


def test_the_kernels_agree_with_their_definitions() -> None:
    """Run as a program, which takes no compiled part of softnpu."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", BENCHMARKS / "gpu.py", "--check", "cpu"],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "results agree with their definitions" in done.stdout
