# SPDX-License-Identifier: Apache-2.0
"""The pages of rules, one for each area, from the tables that ``softnpu explain`` prints."""

from __future__ import annotations

from collections.abc import Iterable

from docs_tools.markdown import table
from softnpu.contract import load_contracts
from softnpu.explanations import Explanation, load

INDEX = """\
# Rules

Each failure names the rule that was broken: Python's exceptions as `.rule`, and in the note below a
traceback; the log of `softnpu run` in brackets. `softnpu explain RULE` prints its paragraph. The
names do not change once they are released.
"""
TITLES = {
    "contract": "All operators",
    "documented": "Operators with a document",
    "everyday": "Everyday operators",
    "everyday_layers": "Everyday layers",
    "executors": "Executors and the two phases",
    "hccl": "HCCL",
    "judging": "verify and the references",
}


def pages() -> dict[str, str]:
    """Write the page that lists the rules, and a page for each area."""
    rules = [each for each in load() if each.kind == "rule"]
    made = {
        f"reference/rules/{area}.md": f"# Rules: {title(area)}\n\n"
        + "\n".join(_rule(rule) for rule in rules if rule.area == area)
        for area in areas()
    }
    anchors = {name: f"{rule.area}.md#{name}" for rule in rules for name in rule.names}
    by_area = [
        (f"[{title(area)}]({area}.md)", _links(names, anchors))
        for area in areas()
        if (names := [rule.names[0] for rule in rules if rule.area == area])
    ]
    by_operator = [
        (
            f"[{contract.operator}](../../operators/{contract.name}.md)",
            _links((rule["id"] for rule in contract.table["rule"]), anchors),
        )
        for contract in load_contracts().values()
    ]
    made["reference/rules/index.md"] = (
        f"{INDEX}\n{table(['area', 'rules'], by_area)}\n## By operator\n\n"
        f"Rules of its own, beside those of [all operators](contract.md).\n\n"
        f"{table(['operator', 'rules'], by_operator)}"
    )
    return made


def title(area: str) -> str:
    """Name an area."""
    return TITLES.get(area, area.replace("_", " ").capitalize())


def areas() -> list[str]:
    """List the areas in their order."""
    return list(dict.fromkeys(each.area for each in load() if each.kind == "rule"))


def _links(names: Iterable[str], anchors: dict[str, str]) -> str:
    return ", ".join(f"[{name}]({anchors[name]})" for name in names)


def _rule(rule: Explanation) -> str:
    language = "python" if rule.area in ("python", "judging") else "cpp"
    first, *others = rule.names
    heading = f"## {first} {{ #{first} }}\n\n"
    anchors = ", ".join(f'<span id="{name}">`{name}`</span>' for name in others)
    also = f"The same for {anchors}.\n\n" if others else ""
    example = f"```{language}\n{rule.example.strip()}\n```\n" if rule.example else ""
    return f"{heading}{also}{rule.means} {rule.why}\n\n{rule.repair}\n\n{example}"
