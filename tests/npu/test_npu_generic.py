# SPDX-License-Identifier: Apache-2.0
"""PyTorch's databases of modules and optimizers."""

from __future__ import annotations

from pathlib import Path

from tests.npu import device_tests


def test_modules_and_optimizers_do_what_they_do_on_the_cpu() -> None:
    """In a process that has the device from its start: PyTorch wants that."""
    ran = device_tests.outcomes(Path(__file__).parent, "generic.py", device_tests.DEVICE)
    assert {name: error for name, error in ran.items() if error} == {}
    assert len(ran) > 40
