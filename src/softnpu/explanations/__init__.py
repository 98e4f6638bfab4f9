# SPDX-License-Identifier: Apache-2.0
"""The meaning of each rule, status code and finding, read from the tables in this folder."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from softnpu import toml
from softnpu.contract import load_contracts

__all__ = ["Explanation", "find", "load"]

KINDS = ("code", "rule", "finding")
OTHER_CODE = (
    "A status code of the toolkit. softnpu does not return it.",
    "Other implementations return it.",
    "Look at the message.",
)
FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Explanation:
    """One paragraph.

    ``kind`` is rule, code or finding, ``area`` its table. ``names`` are the search keys: the ids of
    the explained rules, a code's number and names, or a finding's kind. For codes, ``why`` has the
    usual causes.
    """

    kind: str
    area: str
    names: tuple[str, ...]
    means: str
    why: str
    repair: str
    example: str = ""


@cache
def load() -> tuple[Explanation, ...]:
    """Read all explanations: codes, rules and findings, in the order of the tables."""
    return tuple(each for file in sorted(FOLDER.glob("*.toml")) for each in _read(file))


def _read(file: Path) -> Iterator[Explanation]:
    tables = toml.read(file)
    for row in tables.get("code", []):
        yield _explanation("code", file, (str(row["number"]), *row["names"]), row, row["causes"])
    for number, name in tables.get("other_codes", {}).items():
        yield Explanation("code", file.stem, (number, name), *OTHER_CODE)
    for row in tables.get("rule", []):
        ids = null_rules() if row["ids"] == ["@null"] else row["ids"]
        yield _explanation("rule", file, tuple(ids), row, row["why"])
    for row in tables.get("finding", []):
        yield _explanation("finding", file, (row["id"],), row, row["why"])


def null_rules() -> list[str]:
    """List the rules that an operator's argument is not null."""
    rules = (rule for one in load_contracts().values() for rule in one.table["rule"])
    return list(dict.fromkeys(rule["id"] for rule in rules if rule["status"] == 161001))


def _explanation(
    kind: str, file: Path, names: tuple[str, ...], row: dict[str, Any], why: str
) -> Explanation:
    repair = " ".join(row["repair"].split())
    example = row.get("example", "").strip("\n")
    return Explanation(kind, file.stem, names, row["means"], why, repair, example)


def find(name: str) -> list[Explanation]:
    """Find the explanations of a rule's id, a code's number or name, or a finding.

    A finding may be given without its tool, and a tool stands for all of its findings, so there may
    be several explanations.

    Raises
    ------
    LookupError
        There is none; the second argument lists suggestions.
    """
    wanted = _plain(name)
    found = [each for each in load() if wanted in _spellings(each) or wanted == _tool(each)]
    found.sort(key=lambda each: KINDS.index(each.kind))
    if not found:
        names = [name for each in load() for name in each.names]
        known = {form: name for name in names for form in _forms(name)}
        close = [known[one] for one in known if len(wanted) > 2 and wanted in one][:3]
        near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.6)
        close = close or [known[one] for one in near]
        raise LookupError(f"nothing is called {name!r}", list(dict.fromkeys(close)))
    return found


def _tool(explanation: Explanation) -> str:
    """Return the checker of a finding, which stands for all of its findings."""
    return explanation.names[0].partition("/")[0] if explanation.kind == "finding" else ""


def _spellings(explanation: Explanation) -> set[str]:
    return {form for name in explanation.names for form in _forms(name)}


def _forms(name: str) -> set[str]:
    """Return the accepted spellings of a name: a finding's also without its tool."""
    return {_plain(name), _plain(name.rpartition("/")[2])}


def _plain(name: str) -> str:
    """Normalise the spellings in messages, logs and headers."""
    return name.strip().strip("[]").lower().replace("_", "-").removeprefix("rule: ")
