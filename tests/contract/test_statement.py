# SPDX-License-Identifier: Apache-2.0
"""The contract's two statements agree, and the one in TOML is well formed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from softnpu.codegen.build import read
from softnpu.contract import load_contracts
from tests.support.contract import FOLDER, OPERATORS, Contract, contract, load, statement
from tests.support.paths import ROOT
from tests.support.plan import PRODUCTS, rule_pairs

HANDLES = ROOT / "core" / "tensor" / "handles.cpp"
KINDS = {"tensor", "scalar", "int_array", "int", "float", "double", "bool"}


@pytest.fixture(params=OPERATORS)
def spec(request: pytest.FixtureRequest) -> Contract:
    """Each operator's contract."""
    return contract(request.param)


def table(spec: Contract) -> dict[str, Any]:
    """The contract as it stands in its files."""
    return statement(spec.op)


def rule_ids_in(text: str) -> list[str]:
    """The rule ids of a C++ source, each once, in the order of their first use."""
    return list(dict.fromkeys(re.findall(r'"([a-z0-9-]+)"_rule', text)))


def test_all_operators_have_a_contract() -> None:
    """There is one file for each operator that is described."""
    assert set(OPERATORS) == set(load_contracts())


def test_the_two_statements_have_the_same_rules_in_the_same_order(spec: Contract) -> None:
    """The rules of the description, which checks are generated from, are those of the TOML file."""
    described = load_contracts()[spec.op].table["rule"]
    stated = [(rule["id"], rule["status"]) for rule in table(spec)["rule"]]
    assert [(rule["id"], rule["status"]) for rule in described] == stated


def test_the_two_statements_have_the_same_arguments(spec: Contract) -> None:
    """So are the arguments, and the products."""
    described = load_contracts()[spec.op].table
    rows = [(row["name"], row["python"], row["role"], row["kind"]) for row in described["argument"]]
    assert rows == [(a.name, a.python, a.role, a.kind) for a in spec.arguments]
    assert described["products"] == spec.products


def test_rules_by_hand_are_in_the_operators_file() -> None:
    """What core/ops enforces by hand, each file in the order of its checks, is described so."""
    for operator in read(ROOT / "operators"):
        by_hand = [i for c in operator.checks if c.predicate == "by_hand" for i in c.rules]
        path = ROOT / "core" / "ops" / f"{operator.op}.cpp"
        found = rule_ids_in(path.read_text("utf-8")) if path.is_file() else []
        assert found == by_hand, operator.op


def test_the_common_rules_are_enforced_in_one_place() -> None:
    """Every common rule has its id in core/executor, but for that on handles of all kinds."""
    sources = [*sorted((ROOT / "core" / "executor").glob("*.*")), HANDLES]
    enforced = {i for path in sources for i in rule_ids_in(path.read_text(encoding="utf-8"))}
    stated = {rule["id"] for rule in load(FOLDER / "common.toml")["rule"]}
    assert stated <= enforced, stated - enforced


def test_rule_ids_are_unique_and_spelt_alike(spec: Contract) -> None:
    """An id is lower case with hyphens and names one rule."""
    ids = [rule.id for rule in spec.rules]
    assert len(set(ids)) == len(ids)
    assert [i for i in ids if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", i)] == []


def test_null_checks_come_first(spec: Contract) -> None:
    """An operator's rules are its null checks, then everything else."""
    statuses = [rule["status"] for rule in table(spec)["rule"]]
    assert statuses == sorted(statuses)
    assert set(statuses) == {161001, 161002}


def test_every_pointer_has_a_null_check(spec: Contract) -> None:
    """The null checks name each pointer argument once, in the order of the signature."""
    pointers = [a.name for a in spec.arguments if a.kind in ("tensor", "scalar", "int_array")]
    checked = [r["argument"][0] for r in table(spec)["rule"] if r["status"] == 161001]
    assert checked == pointers


def test_every_rule_can_be_broken(spec: Contract) -> None:
    """A rule that is not marked unreachable has at least one way to break it."""
    assert [r.id for r in spec.rules if r.unreachable is None and not r.breaks] == []


def test_breakages_name_known_arguments_and_say_why_python_is_left_out(spec: Contract) -> None:
    """Changes, messages and reasons in the files refer to things that exist."""
    names = {a.name for a in spec.arguments} | {"workspaceSize", "executor"}
    for rule in spec.rules:
        for way in rule.breaks:
            assert set(way.changes) | set(way.argument) <= names, rule.id
    entries = [w for r in table(spec)["rule"] for w in r["break"]]
    entries += table(spec)["accept"]
    entries += load(FOLDER / "common.toml")["rule"]
    assert [e for e in entries if ("why" in e) != ("python" in e)] == []


def test_the_base_call_has_every_argument(spec: Contract) -> None:
    """Every argument is of a known kind, and has a value."""
    assert {a.kind for a in spec.arguments} <= KINDS
    assert list(spec.base) == [a.name for a in spec.arguments]


def test_every_product_has_a_row(spec: Contract) -> None:
    """The product table is complete."""
    assert set(spec.products) == set(PRODUCTS)


def test_pairs_that_are_written_out_name_two_rules_in_order(spec: Contract) -> None:
    """A pair in the file is one of two rules that can be broken, the earlier first."""
    assert set(spec.pairs) <= {(a.id, b.id) for a, b in rule_pairs(spec)}
