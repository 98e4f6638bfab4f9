# SPDX-License-Identifier: Apache-2.0
"""The programs in `programs/`: each has one bug, and none when compiled with -DREPAIRED."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.command import run_softnpu

FOLDER = Path(__file__).parent / "programs"
PROGRAMS = sorted(file.stem for file in FOLDER.glob("*.cpp"))


@dataclass
class Report:
    """How `softnpu check` ended."""

    status: int
    findings: list[dict[str, Any]]
    stdout: str
    stderr: str

    @property
    def kinds(self) -> list[str]:
        """What was found, as tool/kind."""
        return [f"{one['tool']}/{one['kind']}" for one in self.findings]


def check(
    file: Path, *options: str, folder: Path, environment: Mapping[str, str] | None = None
) -> Report:
    """Run `softnpu check` with a report as JSON."""
    report = folder / "findings.json"
    report.unlink(missing_ok=True)
    form = () if "--format" in options else ("--format", "json", "--output", str(report))
    settings = {
        "CPPFLAGS": f"-I{FOLDER}",
        "CXXFLAGS": "-O0",
        "SOFTNPU_BANNER": "0",
        "SOFTNPU_LOG": "off",
        **(environment or {}),
    }
    done = run_softnpu("check", *form, *options, file, cwd=folder, env={**os.environ, **settings})
    findings = json.loads(report.read_text("utf-8"))["findings"] if report.is_file() else []
    return Report(done.returncode, findings, done.stdout, done.stderr)


def expected(name: str) -> str:
    """Give the tool/kind that a program's name promises."""
    tool, _, kind = name.partition("_")
    return f"{tool}/{kind.replace('_', '-')}"


def variant(name: str, repaired: bool) -> list[str]:
    """Give the lines of a program, with or without its bug, below the licence."""
    lines, keep, branch = [], True, ""
    for line in (FOLDER / f"{name}.cpp").read_text("utf-8").splitlines()[1:]:
        word = line.split(" ")[0]
        if word in ("#ifdef", "#ifndef"):
            branch = word
            keep = (word == "#ifdef") == repaired
        elif word == "#else":
            keep = (branch == "#ifndef") == repaired
        elif word == "#endif":
            keep = True
        elif keep:
            lines.append(line)
    return lines
