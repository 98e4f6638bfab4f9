# SPDX-License-Identifier: Apache-2.0
"""Looks up functions and source lines of addresses in programs, with addr2line."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from typing import Any

Place = tuple[str, str, int]  # function, file, line


class Symbols:
    """Looks frames up, all those of one file at once."""

    def __init__(self) -> None:
        self._wanted: dict[str, set[int]] = defaultdict(set)
        self._found: dict[tuple[str, int], list[Place]] = {}

    def want(self, frame: dict[str, Any]) -> None:
        """Note a frame of a report to look up."""
        if frame["line"] == 0:
            self._wanted[frame["file"]].add(frame["offset"])

    def look_up(self) -> None:
        """Look up all noted frames. Without addr2line, places are files and offsets."""
        program = shutil.which("addr2line")
        if program is None:
            return
        for file, offsets in self._wanted.items():
            self._ask(program, file, sorted(offsets))

    def _ask(self, program: str, file: str, offsets: list[int]) -> None:
        command = [program, "-e", file, "-f", "-C", "-i", "-a", *map(hex, offsets)]
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            return
        places: list[Place] = []
        offset = 0
        lines = iter(asked.stdout.splitlines())
        for line in lines:
            if line.startswith("0x"):
                offset = int(line, 16)
                places = self._found.setdefault((file, offset), [])
                continue
            place = _place(line, next(lines, "??:0"))
            if place is not None:
                places.append(place)
            elif line != "??" and not places:  # a name, but no line
                places.append((line, f"{file}+{offset:#x}", 0))

    def places(self, frame: dict[str, Any]) -> list[Place]:
        """Return the places of a frame: several if functions were inlined."""
        if frame["line"]:
            return [(frame["function"], frame["file"], frame["line"])]
        found = self._found.get((frame["file"], frame["offset"]))
        if found:
            return found
        return [(frame["function"], f"{frame['file']}+{frame['offset']:#x}", 0)]


def _place(function: str, where: str) -> Place | None:
    file, _, line = where.split(" (discriminator")[0].rpartition(":")
    if not line.isdigit() or int(line) == 0:
        return None
    return function, file, int(line)
