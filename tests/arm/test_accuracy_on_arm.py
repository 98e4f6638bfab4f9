# SPDX-License-Identifier: Apache-2.0
"""64-bit Arm keeps the table of accuracies."""

from __future__ import annotations

import pytest

from softnpu.judging.accuracy import Row, every_row
from tests.numerics import test_elementwise, test_upsample_nearest3d_backward
from tests.numerics.elementwise import BY_NAME
from tests.support.emulated import Machine, softnpu_on

pytestmark = pytest.mark.arm


def name(row: Row) -> str:
    """What a row's test is called."""
    return f"{row.operator} {row.dtype_name}: {row.range}"


@pytest.mark.parametrize("row", every_row(), ids=name)
def test_accuracy_is_as_tabled(row: Row, machine: Machine) -> None:
    """Law: every row of the accuracy table holds there, too."""
    is_elementwise = row.operator in BY_NAME
    own_test = test_elementwise if is_elementwise else test_upsample_nearest3d_backward
    with softnpu_on(machine):
        own_test.test_accuracy_is_as_tabled(row)
