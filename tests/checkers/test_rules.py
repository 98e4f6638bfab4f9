# SPDX-License-Identifier: Apache-2.0
"""What the checkers report of each rule of the API."""

from __future__ import annotations

import pytest

from softnpu import _core, explanations
from tests.support.command import run_softnpu
from tests.support.contract import load
from tests.support.paths import ROOT

TABLE = load(ROOT / "tests" / "checkers" / "rules.toml")
NAMED = {rule: finding for finding, rules in TABLE["findings"].items() for rule in rules}
# Those of the C API: the others are rules of Python functions and of files.
RULES = sorted(
    name
    for each in explanations.load()
    if each.kind == "rule" and each.area not in ("python", "judging")
    for name in each.names
)


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_is_reported(rule: str) -> None:
    """As the table says; all that it does not list is a failed call."""
    if rule in TABLE["unreported"]:
        assert _core.finding_of(rule) == ""
    else:
        assert _core.finding_of(rule) == NAMED.get(rule, "apicheck/failed-call")


def test_the_table_lists_rules() -> None:
    """Each once, and none that does not exist."""
    listed = [*TABLE["unreported"], *(r for rules in TABLE["findings"].values() for r in rules)]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(RULES)
    assert all(TABLE["unreported"].values())


def test_explain_names_the_finding() -> None:
    """Of rules of the C API that the checkers report."""
    text = run_softnpu("explain", "context-dead").stdout
    assert "softnpu check reports it as memcheck/dead-handle." in text
    assert "softnpu check" not in run_softnpu("explain", "wait-timeout").stdout
