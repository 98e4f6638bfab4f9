# SPDX-License-Identifier: Apache-2.0
"""Suppressions: findings that the user does not want to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from softnpu.cli.findings import Finding
from softnpu.cli.output import EXIT_USAGE, fail


@dataclass(frozen=True)
class Suppression:
    """File-name patterns for TOOL/KIND and for a function or file in the finding."""

    what: str
    where: str

    def matches(self, finding: Finding) -> bool:
        """Whether the patterns match a finding."""
        if not fnmatchcase(f"{finding.tool}/{finding.kind}", self.what):
            return False
        frames = [frame for part in finding.parts for frame in part.frames]
        names = [name for frame in frames for name in (frame.function, frame.file, str(frame))]
        return self.where == "*" or any(fnmatchcase(name, self.where) for name in names)


def read_suppressions(file: Path, tools: Sequence[str]) -> list[Suppression]:
    """Read lines of ``TOOL/KIND [WHERE]``; # starts a comment."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        fail(f"cannot read the suppressions {file}: {error}", EXIT_USAGE)
    found = []
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) > 2 or words[0].count("/") != 1:
            fail(
                f"{file}:{number} is {line.strip()!r}; expected TOOL/KIND [FUNCTION-OR-FILE]",
                EXIT_USAGE,
                hint="Both are patterns: leakcheck/* or */* *third_party*.",
            )
        tool = words[0].split("/")[0]
        if not any(fnmatchcase(known, tool) for known in tools):
            fail(
                f"{file}:{number}: there is no tool {tool}",
                EXIT_USAGE,
                hint=f"It must be one of {', '.join(tools)}, or a pattern of one.",
            )
        found.append(Suppression(words[0], words[1] if len(words) == 2 else "*"))
    return found
