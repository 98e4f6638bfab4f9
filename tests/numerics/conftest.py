# SPDX-License-Identifier: Apache-2.0
"""Prints the measured accuracies below the test results and keeps them in build/accuracy.json."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.support import accuracy


@pytest.fixture(autouse=True)
def _numpy_is_quiet() -> Iterator[None]:
    """Keep NumPy from warning about the infinities and NaN that these tests are about."""
    with np.errstate(all="ignore"):
        yield


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report what the accuracy rows measured in this run."""
    if not accuracy.measured:
        return
    accuracy.write(config.rootpath / "build" / "accuracy.json")
    terminalreporter.section("accuracy, measured of promised")
    for line in accuracy.summary():
        terminalreporter.line(line)
