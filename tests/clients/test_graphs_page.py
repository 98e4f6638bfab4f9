# SPDX-License-Identifier: Apache-2.0
"""docs/graphs.md: its program runs, prints what the page says, and has no finding."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import blocks

PAGE = "docs/graphs.md"


@pytest.mark.parametrize("command", ["run", "check"])
def test_the_example(command: str, tmp_path: Path) -> None:
    """As it stands."""
    (program,), (shown,) = blocks(PAGE, "cpp"), blocks(PAGE, "text")
    (tmp_path / "graph.cpp").write_text(program.text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "softnpu", command, "graph.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, shown.text), done.stderr
