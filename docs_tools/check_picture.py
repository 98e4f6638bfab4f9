# SPDX-License-Identifier: Apache-2.0
"""Draws what `softnpu check` prints for a small program, for the README.

python docs_tools/check_picture.py
"""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from pathlib import Path

from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "checkers" / "programs" / "racecheck_stream_race.cpp"
PICTURE = ROOT / "docs" / "pictures" / "check.png"
WIDTH = 110  # characters
DARK, LIGHT, HEAD, PLACE = "#1e1e2e", "#dce0e8", "#f38ba8", "#94e2d5"


def report() -> list[str]:
    """Run the program under the checkers; give the command and what it prints."""
    name = PROGRAM.name
    done = subprocess.run(
        ["softnpu", "check", name],
        cwd=PROGRAM.parent,
        env={**os.environ, "SOFTNPU_BANNER": "0"},
        capture_output=True,
        text=True,
    )
    text = done.stderr.replace(f"{PROGRAM.parent}/", "")
    text = re.sub(r"=0x[0-9a-f]+", "=...", text)  # addresses differ in every run
    return [f"$ softnpu check {name}", *text.splitlines()]


def wrapped(lines: list[str]) -> list[str]:
    """Break long lines, with what follows below the first word."""
    result: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 3)
        result += textwrap.wrap(line, WIDTH, subsequent_indent=indent) or [""]
    return result


def draw(lines: list[str]) -> None:
    """Write the picture, a terminal in dark colours."""
    height = 0.21 * len(lines) + 0.3
    figure = Figure(figsize=(WIDTH * 0.085 + 0.3, height), facecolor=DARK)
    for place, line in enumerate(lines):
        is_head = line.startswith(("$", "softnpu check:")) or re.match(r"\d+\. ", line)
        colour = HEAD if is_head else PLACE if line.lstrip().startswith("at ") else LIGHT
        top = 1 - (0.15 + 0.21 * (place + 0.5)) / height
        figure.text(
            0.015,
            top,
            line,
            color=colour,
            family="monospace",
            size=10,
            va="center",
            parse_math=False,
        )
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110, facecolor=DARK)


if __name__ == "__main__":
    draw(wrapped(report()))
