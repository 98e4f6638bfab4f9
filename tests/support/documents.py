# SPDX-License-Identifier: Apache-2.0
"""The code in the documents, to be run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.paths import ROOT


class Block(NamedTuple):
    """A block of code in a page."""

    language: str
    text: str


def blocks(page: str, *languages: str) -> list[Block]:
    """The blocks of code of a page, in its order, that are in one of the languages."""
    text = (ROOT / page).read_text("utf-8")
    found = [Block(*parts) for parts in re.findall(r"```(\w+)\n(.*?)```", text, re.S)]
    return [block for block in found if block.language in languages]


def run_python(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in a process of its own, in which a warning is an error."""
    (folder / "block.py").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-W", "error", "block.py"], cwd=folder, capture_output=True, text=True
    )
