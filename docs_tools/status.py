# SPDX-License-Identifier: Apache-2.0
"""The pages of status codes and of rules, from the tables that ``softnpu explain`` prints."""

from __future__ import annotations

from docs_tools.markdown import table
from softnpu.explanations import Explanation, load


def page() -> str:
    """Write the page of status codes."""
    codes = sorted((e for e in load() if e.kind == "code"), key=lambda e: int(e.names[0]))
    rows = [(f"[{code.names[0]}](#{code.names[0]})", code.means) for code in codes]
    return f"{STATUS}\n{table(['code', 'meaning'], rows)}\n" + "\n".join(map(_code, codes))


def rules_page() -> str:
    """Write the page of rules, area by area."""
    areas: dict[str, list[Explanation]] = {}
    for each in load():
        if each.kind == "rule":
            areas.setdefault(each.area, []).append(each)
    sections = [
        f"## {area.replace('_', ' ').capitalize()}\n\n" + "\n".join(map(_rule, rules))
        for area, rules in areas.items()
    ]
    return RULES + "\n" + "\n".join(sections)


STATUS = """\
# Status codes

Every call of the C API returns one of these. `aclGetRecentErrMsg()` returns the message, which says
what was wrong with which argument; `softnpu run` prints it for each call that fails. In Python it
is the text of the exception, whose `status` is the code. The search finds a code by its number, and
`softnpu explain NUMBER` prints its paragraph.
"""

RULES = """\
# Rules

Each failure names the rule that was broken: Python's exceptions as `.rule`, and in the note below a
traceback; the log of `softnpu run` in brackets. `softnpu explain RULE` prints its paragraph. The
names do not change once they are released.
"""


def _code(code: Explanation) -> str:
    number, *names = code.names
    title = f"## {number} {' '.join(names[:1])}".rstrip() + f" {{ #{number} }}\n\n"
    others = f"Also `{'`, `'.join(names[1:])}`. " if names[1:] else ""
    return f"{title}{others}{code.means}\n\nUsual causes: {code.why}\n\nWhat to do: {code.repair}\n"


def _rule(rule: Explanation) -> str:
    language = "python" if rule.area in ("python", "judging") else "cpp"
    titles = "".join(f"### {name}\n\n" for name in rule.names)
    example = f"```{language}\n{rule.example.strip()}\n```\n" if rule.example else ""
    return f"{titles}{rule.means} {rule.why}\n\n{rule.repair}\n\n{example}"
