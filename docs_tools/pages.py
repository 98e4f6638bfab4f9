# SPDX-License-Identifier: Apache-2.0
"""All pages and pictures that are made when the site is built."""

from __future__ import annotations

from typing import Any

from docs_tools import api, commands, headers, operators, pictures, rules, status
from softnpu.contract import load_contracts


def everything() -> dict[str, str | bytes]:
    """Make them: the name in the site, and what it contains."""
    made: dict[str, str | bytes] = {
        "operators/index.md": operators.index(),
        "reference/commands.md": commands.page(),
        "reference/status.md": status.page(),
    }
    for contract in load_contracts().values():
        made[f"operators/{contract.name}.md"] = operators.page(contract)
    return made | rules.pages() | api.pages() | headers.pages() | pictures.everything()


def listed(nav: Any) -> Any:
    """Fill the placeholders of a navigation with the pages of a kind."""
    if isinstance(nav, dict):
        return {title: listed(item) for title, item in nav.items()}
    if isinstance(nav, list):
        return [entry for item in nav for entry in _entries(item)]
    return nav


def _entries(item: Any) -> list[Any]:
    if item == "operators/*":
        names = load_contracts().values()
        return [{contract.operator: f"operators/{contract.name}.md"} for contract in names]
    if item == "reference/c/*":
        return [{headers.title(name): f"reference/c/{name}.md"} for name in headers.HEADERS]
    if item == "reference/rules/*":
        return [{rules.title(area): f"reference/rules/{area}.md"} for area in rules.areas()]
    return [listed(item)]
