# SPDX-License-Identifier: Apache-2.0
"""`softnpu explain`, and that everything the library can say is explained."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import softnpu
from softnpu import explanations
from softnpu.cli.app import COMMANDS
from softnpu.explanations import Explanation
from tests.support.contract import FOLDER, OPERATORS, load, statement
from tests.support.paths import INCLUDE, ROOT

ID = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"


def of_kind(kind: str) -> list[Explanation]:
    """The explanations of a kind."""
    return [each for each in explanations.load() if each.kind == kind]


def names_of(kind: str) -> list[str]:
    """All that they explain."""
    return [name for each in of_kind(kind) for name in each.names]


def matches(pattern: str, files: Iterable[Path]) -> set[str]:
    """What a pattern finds in files."""
    return {m for file in files for m in re.findall(pattern, file.read_text(encoding="utf-8"))}


def sources(*folders: str) -> list[Path]:
    """The C++ sources in folders."""
    return [
        f for folder in folders for f in (ROOT / folder).rglob("*") if f.suffix in (".cpp", ".h")
    ]


def rules_in_the_sources() -> set[str]:
    """The ids that C++, Python and the contracts have."""
    found = matches(rf'"({ID})"_rule', sources("core", "bindings"))
    found |= matches(rf'rule="({ID})"', (ROOT / "src").rglob("*.py"))
    found |= {rule["id"] for op in OPERATORS for rule in statement(op)["rule"]}
    found |= {rule["id"] for rule in load(FOLDER / "common.toml")["rule"]}
    return found


def test_every_rule_is_explained_once_and_no_other() -> None:
    """The ids in the sources and in the contracts are those of the explanations."""
    explained = names_of("rule")
    assert len(explained) == len(set(explained))
    assert set(explained) == rules_in_the_sources()
    assert len(explained) > 100


def test_every_failure_names_a_rule() -> None:
    """Nothing in C++ makes a Status with an empty rule, or raises past raise()."""
    empty = [
        f"{file.name}: {line.strip()}"
        for file in sources("core", "bindings")
        if file.name != "status.h"
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.search(r"RuleId\(\)|RuleId\{\}|PyErr_SetString|PyErr_Format|throw nb::", line)
    ]
    assert empty == []


def test_every_status_code_is_explained() -> None:
    """Those of the headers with all of their names, and those of core/base/status.h."""
    text = "".join(
        (INCLUDE / name).read_text(encoding="utf-8")
        for name in ("acl/acl_base.h", "acl/error_codes/rt_error_codes.h", "softnpu/aclnn_status.h")
    )
    codes = re.findall(r"\b(ACL(?:NN)?_(?:ERR(?:OR)?_\w+|SUCCESS)) (?:= )?(\d+)", text)
    named = {(name, number) for name, number in codes}
    assert len(named) > 30
    explained = {(name, each.names[0]) for each in of_kind("code") for name in each.names[1:]}
    assert named <= explained
    core = re.findall(r"  k\w+ = (\d+),", (ROOT / "core" / "base" / "status.h").read_text())
    numbers = {each.names[0] for each in of_kind("code")}
    assert numbers == set(core) | {number for _, number in named}


def test_every_finding_is_explained() -> None:
    """The kinds are those of docs/findings.md."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert names_of("finding") == re.findall(r"^## (\w+/[\w-]+)$", page, re.M)


@pytest.mark.parametrize("each", explanations.load(), ids=lambda each: each.names[0])
def test_a_paragraph_says_what_it_has_to(each: Explanation) -> None:
    """Meaning, reason and repair are sentences; rules have an example."""
    for text in (each.means, each.why, each.repair):
        assert text.endswith((".", "ml_dtypes"))
        assert "\n" not in text
    assert bool(each.example) == (each.kind == "rule")
    assert all(len(line) < 100 for line in each.example.splitlines())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("161002", ["ACLNN_ERR_PARAM_INVALID", "usual causes: "]),
        ("ACLNN_ERR_PARAM_INVALID", ["161002"]),
        ("aclnn_err_param_invalid", ["161002"]),
        ("cast", ["repair: ", "example:", "aclnnEluBackward"]),
        ("[cast]", ["aclnnEluBackward"]),
        ("memcheck/host-access", ["finding", "docs/findings.md"]),
        ("host-access", ["finding"]),
        ("double-free", ["rule double-free", "finding memcheck/double-free"]),
        ("output-overlaps-input", ["all", "161002"]),
    ],
)
def test_what_is_asked_for_is_explained(softnpu: Any, name: str, shown: list[str]) -> None:
    """By number, by name, in any case, as the log writes it."""
    done = softnpu("explain", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert [part for part in shown if part not in done.stdout] == []


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("dtype-difers", "dtype-differs"),
        ("161020", "161002"),
        ("ACLNN_ERR_PARAM_INVALD", "ACLNN_ERR_PARAM_INVALID"),
    ],
)
def test_near_misses(softnpu: Any, name: str, guess: str) -> None:
    """What may be meant is named, and the status says that nothing was explained."""
    done = softnpu("explain", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean" in done.stderr
    assert guess in done.stderr


def test_nothing_like_it(softnpu: Any) -> None:
    """The way to all names is there in any case."""
    done = softnpu("explain", "qqqqqq")
    assert done.returncode == 2
    assert "nothing is called 'qqqqqq'" in done.stderr
    assert "softnpu explain lists all names" in done.stderr


def test_an_operator(softnpu: Any) -> None:
    """Another command describes it."""
    done = softnpu("explain", "aclnnMatmul")
    assert done.returncode == 2
    assert "softnpu ops aclnnMatmul" in done.stderr


def test_json(softnpu: Any) -> None:
    """One name, or all of them."""
    (one,) = json.loads(softnpu("explain", "alpha-negative", "--json").stdout)
    assert one["names"] == ["alpha-negative"]
    assert one["operators"][0]["operator"] == "aclnnEluBackward"
    everything = json.loads(softnpu("explain", "--json").stdout)
    assert [tuple(each["names"]) for each in everything] == [
        each.names for each in explanations.load()
    ]


def test_the_list_has_every_name(softnpu: Any) -> None:
    """One on each line."""
    lines = softnpu("explain").stdout.splitlines()
    first = {line.split()[0] for line in lines if line.strip()}
    assert {name for each in explanations.load() for name in each.names} <= first


def test_examples_name_things_that_exist() -> None:
    """Functions and constants of the headers, attributes of the package, commands."""
    text = "\n".join("\n".join((e.means, e.why, e.repair, e.example)) for e in explanations.load())
    headers = "".join(file.read_text(encoding="utf-8") for file in INCLUDE.rglob("*.h"))
    used = set(re.findall(r"\b(acl(?:rt|nn)?[A-Z]\w+|ACL_\w+)\b", text))
    assert len(used) > 50
    assert {name for name in used if not re.search(rf"\b{name}", headers)} == set()
    for name in set(re.findall(r"\bsoftnpu\.(\w+)\(", text)):
        assert hasattr(softnpu, name), name
    commands = set(COMMANDS)
    examples = "\n".join(each.example for each in explanations.load())
    named = re.findall(r"^softnpu (\w+)", examples, re.M) + re.findall(r"`softnpu (\w+)", text)
    assert set(named) <= commands
