# SPDX-License-Identifier: Apache-2.0
"""Every rule of the contract, through the C API and through Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from softnpu.judging.dtypes import NUMPY
from softnpu.judging.ulp import distance
from tests.support.batch import outcome
from tests.support.calls import Outcome
from tests.support.contract import OPERATORS, Case, Contract, Rule, contract, together
from tests.support.dtypes import is_inexact
from tests.support.plan import (
    SHOWN,
    VIAS,
    Alone,
    Pair,
    breakages,
    cases,
    pairs,
    product_calls,
    rule_pairs,
    template,
)

ERRORS = {
    161001: {"AclnnError", "ParamNullptrError", "TypeError"},
    161002: {"AclnnError", "ParamInvalidError", "ValueError"},
    561003: {"AclnnError", "RuntimeError"},
}


# Part of a rule is enforced for all operators in one place, under an id of its own.
PARTS = {
    "dtype-unsupported": "format-private",
    "dtype-or-format-differs": "format-private",
}


@pytest.fixture(params=OPERATORS)
def spec(request: pytest.FixtureRequest) -> Contract:
    """Each operator's contract."""
    return contract(request.param)


@pytest.fixture(params=VIAS)
def via(request: pytest.FixtureRequest) -> str:
    """Each way into an operator."""
    return str(request.param)


def report(findings: list[str]) -> None:
    """Fail with the first few findings."""
    shown = "\n".join(findings[:SHOWN])
    assert not findings, f"{len(findings)} findings:\n{shown}"


def misses(text: str, names: tuple[str, ...]) -> list[str]:
    """The argument names that a message does not contain as words."""
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


def faults_alone(spec: Contract, alone: Alone, via: str) -> list[str]:
    """What is wrong with the way in which one broken rule was reported."""
    end = outcome(alone.call)
    start = spec.operator + ("GetWorkspaceSize: " if via == "c" else "")
    faults = list(end.faults)
    if end.status != alone.rule.status:
        faults.append(f"status {end.status} instead of {alone.rule.status}")
    if not end.message.startswith(start):
        faults.append(f"the message does not start with {start!r}")
    if missing := misses(end.message, alone.way.argument):
        faults.append(f"the message does not name {missing}")
    if via == "python" and not ERRORS[alone.rule.status] <= set(end.errors):
        faults.append(f"raised {end.errors[:1]}")
    rule = alone.rule.unreachable or alone.rule.id
    if via == "python" and end.rule not in (rule, PARTS.get(rule)):
        faults.append(f"the rule is {end.rule!r}")
    what = f"{alone.rule.id} {alone.way.changes} {alone.way.soc or ''}"
    return [f"{what}: {fault}\n    {end.message}" for fault in faults]


def test_each_rule_broken_alone_gives_its_status_and_names_its_argument(
    spec: Contract, via: str
) -> None:
    """Status as documented; function and argument in the message; results of phase one untouched;
    in Python an exception of the status's own class, which has the rule's id.
    """
    report([f for alone in breakages(spec, via) for f in faults_alone(spec, alone, via)])


def templates(spec: Contract, via: str) -> dict[str, set[str]]:
    """For each rule that can be broken, the forms of its messages."""
    forms: dict[str, set[str]] = {}
    for alone in (a for a in breakages(spec, via) if a.rule.unreachable is None):
        forms.setdefault(alone.rule.id, set()).add(template(outcome(alone.call).message))
    return forms


def test_no_two_rules_share_a_message(spec: Contract, via: str) -> None:
    """A message tells which rule was broken."""
    forms = templates(spec, via)
    shared = [
        f"{one} and {other}: {both}"
        for one in forms
        for other in forms
        if one < other and (both := forms[one] & forms[other])
    ]
    report(shared)


def fault_of_pair(pair: Pair, forms: dict[str, set[str]]) -> list[str]:
    """What is wrong with the way in which two rules broken together were reported."""
    end: Outcome = outcome(pair.call)
    what = f"{pair.first.id} + {pair.second.id}"
    if end.status != pair.first.status:
        return [f"{what}: status {end.status}\n    {end.message}\n    {pair.call.arguments}"]
    if template(end.message) in forms[pair.first.id]:
        return end.faults
    return [f"{what}: another rule's message\n    {end.message}\n    {pair.call.arguments}"]


def test_of_two_broken_rules_the_earlier_is_reported(spec: Contract, via: str) -> None:
    """Checks run in the documented order, common rules in their places, and the first that fails
    decides the status and the message.
    """
    forms = templates(spec, via)
    planned = [p for p in pairs(spec, via) if p.first.id in forms]
    report([fault for pair in planned for fault in fault_of_pair(pair, forms)])


def exclude_each_other(first: Rule, second: Rule) -> bool:
    """One argument breaks both, and for one of them it has to be no descriptor at all."""
    changes = [way.changes for rule in (first, second) for way in rule.breaks]
    names = {name for change in changes for name in change}
    values = [value for change in changes for value in change.values()]
    return len(names) == 1 and any(
        v == "null" or (isinstance(v, dict) and "handle" in v) for v in values
    )


def test_most_pairs_can_be_broken_together(spec: Contract) -> None:
    """The order test is not hollow: nine of ten pairs of rules take part in it."""
    every = [(a, b) for a, b in rule_pairs(spec) if not exclude_each_other(a, b)]
    covered = {(p.first.id, p.second.id) for p in pairs(spec, "c")}
    left = [f"{a.id} + {b.id}" for a, b in every if (a.id, b.id) not in covered]
    assert len(left) <= 0.1 * len(every), left


def test_a_rule_that_cannot_be_reached_is_hidden_by_the_rule_that_is_named(spec: Contract) -> None:
    """Where a common rule is marked unreachable, the operator's own rule fires instead."""
    forms = templates(spec, "c")
    for rule in (r for r in spec.rules if r.unreachable is not None):
        assert rule.breaks
        for way in rule.breaks:
            end = outcome(spec.call(way.changes, soc=way.soc))
            assert template(end.message) in forms[str(rule.unreachable)], end.message


def fault_of_values(case: Case, end: Outcome, dtype: str) -> str | None:
    """How far the computed values are from the expected ones, if too far."""
    assert end.values is not None
    assert case.expect is not None
    if not end.values or not case.expect:
        return None if end.values == case.expect else f"{end.values} instead of {case.expect}"
    expect: list[Any] = [case.expect[i % len(case.expect)] for i in range(len(end.values))]
    if not is_inexact(dtype):
        return None if end.values == expect else f"{end.values} instead of {expect}"
    real = {"COMPLEX64": "FLOAT", "COMPLEX128": "DOUBLE"}.get(dtype, dtype)
    computed = np.array(end.values, np.float64).astype(NUMPY[real])
    steps = distance(computed, np.array(expect, np.float64), zero_sign=True)
    return None if steps.max() <= case.ulp else f"{end.values} instead of {expect}"


def test_accepted_calls_succeed_and_compute_the_right_values(spec: Contract, via: str) -> None:
    """Documented freedoms are accepted, the documents' own programs give their results, and nothing
    but the output is written.
    """
    findings = []
    for case, call in cases(spec, via):
        end = outcome(call)
        if end.status:
            findings.append(f"{case.name}: status {end.status}\n    {end.message}")
            continue
        findings += [f"{case.name}: {fault}" for fault in end.faults]
        if call.run or via == "python":
            fault = fault_of_values(case, end, call.arguments[spec.output]["dtype"])
            findings += [f"{case.name}: {fault}"] if fault else []
    report(findings)


def test_the_product_decides_whether_the_operator_exists(spec: Contract, via: str) -> None:
    """A product without the operator gives 561003, every other one accepts the base call."""
    found = {soc: outcome(call).status for soc, call in product_calls(spec, via).items()}
    assert found == {soc: 0 if has else 561003 for soc, has in spec.products.items()}


def test_breakages_of_different_rules_do_not_clash_by_accident() -> None:
    """Merging knows which changes exclude each other: a null and a field of the same argument do,
    fields of different arguments do not.
    """
    spec = contract("elu_backward")
    rules = {rule.id: rule for rule in spec.rules}
    assert not any(together(rules["alpha-null"], rules["alpha-negative"]))
    assert any(together(rules["alpha-null"], rules["cast"]))
