# SPDX-License-Identifier: Apache-2.0
"""The page of status codes: their names from the headers, the rest from ``status.toml``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docs_tools.markdown import table
from softnpu import toml

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ("acl/acl_base.h", "softnpu/aclnn_status.h")
_NAMED = re.compile(r"\b(ACL(?:NN)?_(?:ERR|ERROR|SUCCESS)\w*) (?:= )?(\d+)")


def names() -> dict[int, list[str]]:
    """List the names of each code."""
    found: dict[int, list[str]] = {}
    for header in HEADERS:
        for name, code in _NAMED.findall((ROOT / "include" / header).read_text("utf-8")):
            found.setdefault(int(code), []).append(name)
    return found


def explained() -> dict[int, dict[str, Any]]:
    """Load what is known of each code."""
    rows = toml.read(Path(__file__).with_name("status.toml"))["code"]
    return {row["status"]: row for row in rows}


def page() -> str:
    """Write the page."""
    meanings, named = explained(), names()
    rows = [(f"[{code}](#{code})", row["meaning"]) for code, row in sorted(meanings.items())]
    sections = [_section(code, row, named.get(code, [])) for code, row in sorted(meanings.items())]
    return f"{HEAD}\n{table(['code', 'meaning'], rows)}\n" + "\n".join(sections)


HEAD = """\
# Status codes

Every call of the C API returns one of these. `aclGetRecentErrMsg()` returns the message, which says
what was wrong with which argument; `softnpu run` prints it for each call that fails. In Python it
is the text of the exception, whose `status` is the code. The search finds a code by its number.
"""


def _section(code: int, row: dict[str, Any], named: list[str]) -> str:
    title = f"## {code} {' '.join(named[:1])}".rstrip() + f" {{ #{code} }}\n\n"
    others = f"Also `{'`, `'.join(named[1:])}`. " if named[1:] else ""
    text = f"{title}{others}{row['meaning']}\n"
    if row.get("causes"):
        text += "\nUsual causes:\n\n" + "".join(f"- {cause}\n" for cause in row["causes"])
    return text + (f"\nWhat to do: {row['remedy']}\n" if "remedy" in row else "")
