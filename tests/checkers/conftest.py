# SPDX-License-Identifier: Apache-2.0
"""Programs with one bug each, and what `softnpu check` says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkers.programs import Report, check


@pytest.fixture
def checked(tmp_path: Path) -> Callable[..., Report]:
    """Runs `softnpu check` on a program's text or file."""

    def run(program: str | Path, *options: str, suffix: str = ".cpp") -> Report:
        if isinstance(program, str):
            file = tmp_path / f"program{suffix}"
            file.write_text(program, encoding="utf-8")
        else:
            file = program
        return check(file, *options, folder=tmp_path)

    return run
