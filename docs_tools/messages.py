# SPDX-License-Identifier: Apache-2.0
"""The checks of an operator with the message of each, taken from calls that break them."""

from __future__ import annotations

from typing import NamedTuple

from softnpu.contract import Contract, shared_rules
from tests.support.batch import outcome
from tests.support.contract import contract


class Check(NamedTuple):
    """What is checked, what its breach returns, and what it says."""

    status: int
    summary: str
    message: str


def checks(operator: Contract) -> list[Check]:
    """List an operator's checks in their order, those that all operators share included."""
    summaries = {rule["id"]: rule["summary"] for rule in [*operator.table["rule"], *shared_rules()]}
    spec = contract(operator.name)
    found = []
    for rule in spec.rules:
        if rule.unreachable is not None or not rule.breaks:
            continue
        way = rule.breaks[0]
        end = outcome(spec.call(way.changes, soc=way.soc))
        if end.status != rule.status:
            raise RuntimeError(f"{operator.name}: {rule.id} gave {end.status}: {end.message}")
        found.append(Check(rule.status, summaries[rule.id], end.message))
    return found
