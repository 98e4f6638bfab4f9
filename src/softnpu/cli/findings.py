# SPDX-License-Identifier: Apache-2.0
"""Findings of the checkers: read from a report, located in the source, and printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softnpu.cli.symbols import Place, Symbols
from softnpu.explanations import find

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Frame:
    """A place in the program. Line 0 means unknown."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        """Format the place as compilers do."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Part:
    """A call of a finding, and its stack in the program, innermost frame first."""

    role: str
    call: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Finding:
    """One report of a checker."""

    tool: str
    kind: str
    headline: str
    parts: tuple[Part, ...]
    why: str  # it matters
    suggestion: str
    rule: str  # that a call broke, or empty
    pid: int
    rank: str  # of a process that communicates with others, or empty


def read_findings(report: Path) -> list[Finding]:
    """Read the checkers' report: a line of JSON for each finding."""
    if not report.is_file():
        return []
    lines = report.read_text(encoding="utf-8", errors="replace").split("\n")
    return parse_findings([line for line in lines if _is_whole(line)])


def _is_whole(line: str) -> bool:
    """Whether the line is complete: the program may have ended while it wrote."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def parse_findings(lines: list[str]) -> list[Finding]:
    """Convert the checkers' lines to findings."""
    raw = [json.loads(line) for line in lines]
    symbols = Symbols()
    for finding in raw:
        for part in finding["parts"]:
            for frame in part["frames"]:
                symbols.want(frame)
    symbols.look_up()
    return [_finding(finding, symbols) for finding in raw]


def _finding(raw: dict[str, Any], symbols: Symbols) -> Finding:
    parts = []
    for part in raw["parts"]:
        places = [place for frame in part["frames"] for place in symbols.places(frame)]
        parts.append(Part(part["role"], part["call"], _up_to_main(places)))
    tool, kind = raw["tool"], raw["kind"]
    return Finding(
        *(tool, kind, raw["headline"], tuple(parts), _why(tool, kind)),
        *(raw["suggestion"], raw["rule"], raw["pid"], raw["rank"]),
    )


def _why(tool: str, kind: str) -> str:
    """Say why a finding matters, if it is a kind that this version knows."""
    try:
        return find(f"{tool}/{kind}")[0].why
    except LookupError:
        return ""


def _up_to_main(places: list[Place]) -> tuple[Frame, ...]:
    """Remove the frames that start a program, and those of pytest around a test."""
    frames = [Frame(*place) for place in places]
    for end, frame in enumerate(frames):
        if frame.function == "main":
            return tuple(frames[: end + 1])
        if "/_pytest/" in frame.file:
            return tuple(frames[:end])
    return tuple(frames)


def without_folded(findings: list[Finding], fold_leaks: bool) -> tuple[list[Finding], str]:
    """Return the findings to list, and a line for several leaks that are left out, if any."""
    listed = [finding for finding in findings if finding.tool != "leakcheck"]
    folded = len(findings) - len(listed)
    if not fold_leaks or folded < 2:
        return findings, ""
    return listed, f"{folded} leaks of a program that failed; --tool leakcheck lists them."


def show(findings: list[Finding], console: Console, fold_leaks: bool = False) -> None:
    """Print findings for people; fold the leaks of a program that failed into one line."""
    from rich.text import Text

    listed, folded = without_folded(findings, fold_leaks)
    name_processes = any(f.rank or f.pid != findings[0].pid for f in findings)
    for number, finding in enumerate(listed, 1):
        title = Text.assemble(
            (f"{number}. {finding.tool}", "bold red"),
            (f" ({finding.kind}): ", "red"),
            (finding.headline, "bold"),
        )
        console.print(title, soft_wrap=True)
        if name_processes:
            rank = f"rank {finding.rank}, " if finding.rank else ""
            console.print(Text(f"   in {rank}process {finding.pid}"), soft_wrap=True)
        for part in finding.parts:
            call = f": {part.call}" if part.call else ""
            console.print(Text(f"   {part.role}{call}"), soft_wrap=True)
            for frame in part.frames:
                line = Text.assemble(
                    "      at ", (frame.function or "?", "cyan"), (f" ({frame})", "dim")
                )
                console.print(line, soft_wrap=True)
        console.print(Text(f"   {finding.why}"), soft_wrap=True)
        console.print(Text(f"   {finding.suggestion}", style="green"), soft_wrap=True)
        console.print()
    if folded:
        console.print(Text(folded), soft_wrap=True)
    for file in _without_lines(findings):
        hint = f"{file} has no source lines: build it with -g (CMake: its type RelWithDebInfo)."
        console.print(Text(hint), soft_wrap=True)
    if findings:
        name = findings[0].rule or findings[0].kind
        console.print(Text(f"softnpu explain {name} says more."), soft_wrap=True)
    count = len(findings)
    summary = "no findings" if count == 0 else "1 finding"
    if count > 1:
        summary = f"{count} findings; later ones may follow from the first"
    console.print(Text(f"softnpu check: {summary}", style="bold"))


def _without_lines(findings: list[Finding]) -> list[str]:
    """List the programs without any known line; libraries rarely have line information."""
    known: dict[str, bool] = {}
    for finding in findings:
        for part in finding.parts:
            for frame in part.frames[-1:]:
                file = frame.file.rpartition("+")[0] if frame.line == 0 else frame.file
                known[file] = known.get(file, False) or frame.line > 0
    return [file for file, has_lines in known.items() if file and not has_lines]
