# SPDX-License-Identifier: Apache-2.0
"""64-bit Arm keeps the table of accuracies."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.numerics import (
    test_elu_backward,
    test_selu_backward,
    test_smooth_l1_loss_backward,
    test_upsample_nearest3d_backward,
)
from tests.support import accuracy
from tests.support.emulated import Machine, softnpu_on

pytestmark = pytest.mark.arm

TESTS: dict[str, ModuleType] = {
    "elu_backward": test_elu_backward,
    "selu_backward": test_selu_backward,
    "smooth_l1_loss_backward": test_smooth_l1_loss_backward,
    "upsample_nearest3d_backward": test_upsample_nearest3d_backward,
}
ROWS = [row for operator in TESTS for row in accuracy.rows(operator)]


@pytest.mark.parametrize("row", ROWS)
def test_accuracy_is_as_tabled(row: accuracy.Row, machine: Machine) -> None:
    """Law: every row of the accuracy table holds there, too."""
    with softnpu_on(machine):
        TESTS[row.operator].test_accuracy_is_as_tabled(row)
