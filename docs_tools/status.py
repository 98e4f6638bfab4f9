# SPDX-License-Identifier: Apache-2.0
"""The page of status codes, from the tables that ``softnpu explain`` prints."""

from __future__ import annotations

from docs_tools.markdown import table
from softnpu.explanations import Explanation, load


def page() -> str:
    """Write the page of status codes."""
    codes = sorted((e for e in load() if e.kind == "code"), key=lambda e: int(e.names[0]))
    rows = [(f"[{code.names[0]}](#{code.names[0]})", code.means) for code in codes]
    return f"{STATUS}\n{table(['code', 'meaning'], rows)}\n" + "\n".join(map(_code, codes))


STATUS = """\
# Status codes

Every call of the C API returns one of these. `aclGetRecentErrMsg()` returns the message, which says
what was wrong with which argument; `softnpu run` prints it for each call that fails. In Python it
is the text of the exception, whose `status` is the code. The search finds a code by its number, and
`softnpu explain NUMBER` prints its paragraph.
"""


def _code(code: Explanation) -> str:
    number, *names = code.names
    title = f"## {number} {' '.join(names[:1])}".rstrip() + f" {{ #{number} }}\n\n"
    others = f"Also `{'`, `'.join(names[1:])}`. " if names[1:] else ""
    return f"{title}{others}{code.means}\n\nUsual causes: {code.why}\n\nWhat to do: {code.repair}\n"
