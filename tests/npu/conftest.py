# SPDX-License-Identifier: Apache-2.0
"""These tests need PyTorch, and a compiler for the device's C++ part."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.torch)


@pytest.fixture(autouse=True, scope="session")
def npu() -> Any:
    """torch.npu, registered when the first of these tests runs, and not before."""
    from softnpu.torch.vendors import SHIMS

    sys.path.insert(0, str(SHIMS))
    importlib.import_module("torch_npu")
    return importlib.import_module("softnpu.torch.npu")


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """Let no test depend on the random numbers of another."""
    import torch

    torch.manual_seed(1)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Let the CPU sum in one order: the thread for gradients keeps the number it began with."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a script by ``softnpu run``, or another command, and give what it did."""

    def command(script: str, *words: str, env: dict[str, str] | None = None) -> Any:
        file = tmp_path / "program.py"
        file.write_text(script)
        line = [sys.executable, "-m", "softnpu", *(words or ("run",)), str(file)]
        environment = {**os.environ, "SOFTNPU_BANNER": "0", **(env or {})}
        return subprocess.run(
            line, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
        )

    return command
