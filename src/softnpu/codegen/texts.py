# SPDX-License-Identifier: Apache-2.0
"""Lays out generated code."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 100
LICENCE = "SPDX-License-Identifier: Apache-2.0"


def call(head: str, arguments: Sequence[str], tail: str, indent: str = "    ") -> str:
    """Write a call or a declaration on one line, or its arguments on lines of their own."""
    line = f"{head}{', '.join(arguments)}{tail}"
    if len(line) <= WIDTH:
        return line
    lines, current = [head], indent
    for number, argument in enumerate(arguments):
        last = number == len(arguments) - 1
        piece = argument + (tail if last else ",")
        if len(current) + len(piece) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = indent
        current += piece + " "
    return "\n".join([*lines, current.rstrip()])
