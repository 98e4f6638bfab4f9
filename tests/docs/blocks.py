# SPDX-License-Identifier: Apache-2.0
"""The blocks of code in a page: how they are found, run and compared with what the page shows.

The blocks of a page share a folder, in the page's order:

- a block with a title is a file of this name;
- ``python`` and ``cpp`` without a title are programs, too, and run; a ``text`` block directly
  behind one is what it prints;
- ``sh`` are commands that must succeed;
- ``console`` has commands behind ``$``, each followed by what it prints; ``...`` stands for any
  lines, and within a line for anything.

A comment ``<!-- fragment: why -->`` before a block says that it is not run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs_tools.links import MIRRORED
from tests.support.paths import ROOT

# But for the changelog, which also names what is gone.
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
PAGES += sorted(set(MIRRORED) - {"CHANGELOG.md"})

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w+]+)(?P<options>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.M | re.S,
)
_FRAGMENT = re.compile(r"<!-- fragment: [^>]+ -->\s*$")
_TITLE = re.compile(r'title="([^"]+)"')
# The banner says what the machine is like.
_MACHINE = re.compile(r"\(\d+ threads?, \w+\)")


@dataclass(frozen=True)
class Block:
    """A block of code, and whether it follows the one before directly."""

    language: str
    title: str
    text: str
    is_fragment: bool
    line: int
    follows: bool


def blocks(page: str) -> Iterator[Block]:
    """Find the blocks of a page's Markdown."""
    end = 0
    for match in _FENCE.finditer(page):
        before = page[end : match.start()]
        title = _TITLE.search(match["options"])
        yield Block(
            match["language"],
            title[1] if title else "",
            textwrap.dedent(match["text"]),
            bool(_FRAGMENT.search(before)),
            page.count("\n", 0, match.start()) + 1,
            end > 0 and len(re.findall(r"\S\n+", before)) <= 1,
        )
        end = match.end()


class Page:
    """Runs the blocks of one page in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed: str | None = None
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SOFTNPU_")
        }
        commands = str(Path(sys.executable).parent)
        self.environment["PATH"] = os.pathsep.join([commands, os.environ["PATH"]])

    def take(self, block: Block) -> None:
        """Do with a block what its kind asks for."""
        printed, self.printed = self.printed, None
        if block.is_fragment:
            return
        if block.title:
            self.write(block)
        elif block.language == "console":
            self.check_session(block)
        elif block.language in ("sh", "python", "cpp"):
            self.printed = self.run(block)
        elif block.language == "text" and block.follows and printed is not None:
            assert_alike(printed, block.text, f"line {block.line}")
        elif block.language not in ("text", "diff"):
            raise AssertionError(f"line {block.line}: a {block.language} block has no title")

    def write(self, block: Block) -> None:
        """Write a file."""
        file = self.folder / block.title
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")

    def run(self, block: Block) -> str:
        """Run a program or commands that must succeed, and give what they print."""
        if block.language == "sh":
            return self.run_commands(block.text)
        ending = "py" if block.language == "python" else "cpp"
        file = self.folder / f"line_{block.line}.{ending}"
        file.write_text(block.text, encoding="utf-8")
        if ending == "cpp":
            return self._succeeded(["softnpu", "run", file.name])
        return self._succeeded([sys.executable, "-W", "error", file.name])

    def run_commands(self, text: str) -> str:
        """Run commands for a shell, each of which must succeed."""
        return self._succeeded(["bash", "-e", "-c", text])

    def check_session(self, block: Block) -> None:
        """Run each command in turn and compare what it prints."""
        state = ""
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            while command.endswith("\\"):
                more, _, expected = expected.partition("\n")
                command += "\n" + more
            done = self._started(["bash", "-c", f"{state}{command}"])
            assert_alike(done.stdout, expected, f"line {block.line}: {command}")
            if command.startswith(("eval ", "export ", "cd ", "source ")):
                state += command + "\n"

    def _succeeded(self, command: list[str]) -> str:
        done = self._started(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def _started(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )


def assert_alike(printed: str, expected: str, where: str) -> None:
    """Compare what was printed with what the page shows."""
    shown, got = _normal(expected), _normal(printed)
    assert re.fullmatch(_pattern(shown), got), f"{where}\nprinted:\n{got}\nshown:\n{shown}"


def _normal(text: str) -> str:
    text = _MACHINE.sub("(2 threads, avx512)", text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").split("\n"))


def _pattern(shown: str) -> str:
    return "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == "..." else _line_pattern(line)
        for line in shown.splitlines()
    )


def _line_pattern(line: str) -> str:
    return r"[^\n]*".join(map(re.escape, line.split("..."))) + "\n"
