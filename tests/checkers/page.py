# SPDX-License-Identifier: Apache-2.0
"""Writes docs/findings.md from the programs: ``python -m tests.checkers.page``."""

from __future__ import annotations

import difflib
import re
import sys
import tempfile
from pathlib import Path

from tests.checkers.programs import PROGRAMS, check, expected, variant
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "findings.md"

INTRODUCTION = """\
# Findings

What `softnpu check` reports, with a worked example of each: a program that has the bug, the
report, and the repair. [Checking a program](checking.md) describes the command. This page is
made from the programs in `tests/checkers/programs/`, which share
[program.h](../tests/checkers/programs/program.h), by `python -m tests.checkers.page`.
"""


def section(name: str, report: str) -> str:
    """Write a kind's section from its program and what was reported of it."""
    buggy, repaired = variant(name, False), variant(name, True)
    sentence = " ".join(line.removeprefix("// ") for line in buggy if line.startswith("//"))
    lines = list(difflib.unified_diff(buggy, repaired, lineterm="", n=1))
    repair = "\n".join("..." if line.startswith("@@") else line for line in lines[3:])
    return (
        f"\n## {expected(name)}\n\n{sentence}\n\n```cpp\n{program(name)}```\n\n"
        f"```text\n{report.strip()}\n```\n\n```diff\n{repair}\n```\n"
    )


def program(name: str) -> str:
    """Give a program as the page shows it: with its bug, without the comment above it."""
    lines = [line for line in variant(name, False) if not line.startswith("//")]
    return "\n".join(lines).strip() + "\n"


def written(name: str, folder: Path) -> Path:
    """Write that program into a folder."""
    file = folder / f"{name}.cpp"
    file.write_text(program(name), encoding="utf-8")
    return file


def without_places(report: str) -> str:
    """Leave out what differs from run to run: addresses, handles, folders."""
    report = re.sub(r"^softnpu: the program was ended by .*\n", "", report)
    report = re.sub(r"0x[0-9a-f]{4,}", "0x…", report)
    report = re.sub(r"\((?:/[^\s()]*/)([\w.]+:\d+)\)", r"(\1)", report)
    return report.replace("softnpu check: 1 finding", "").replace("1. ", "", 1).strip()


def reported(name: str, folder: Path) -> str:
    """Run the checkers on the program that the page shows, and give their report."""
    done = check(written(name, folder), "--format", "text", folder=folder)
    return without_places(done.stderr)


def main() -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as folder:
        sections = [section(name, reported(name, Path(folder))) for name in PROGRAMS]
    PAGE.write_text(INTRODUCTION + "".join(sections), encoding="utf-8")
    sys.stdout.write(f"{PAGE}: {len(sections)} kinds\n")


if __name__ == "__main__":
    main()
