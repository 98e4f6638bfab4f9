# SPDX-License-Identifier: Apache-2.0
"""The calls that the contract asks for, and how those of one rule are told from another's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.support.capi_symbols import DTYPES, FORMATS
from tests.support.contract import OPERATORS, Break, Call, Case, Contract, Rule, contract, together

VIAS = ("c", "python")
PRODUCTS = ("Ascend950", "Ascend910_93", "Ascend910B", "Ascend310B", "Ascend310P", "Ascend910")
SHOWN = 8  # findings of one test that are worth reading


@dataclass(frozen=True)
class Alone:
    """One rule broken one way."""

    rule: Rule
    way: Break
    call: Call


@dataclass(frozen=True)
class Pair:
    """Two rules broken in one call; `first` is the one that must be reported."""

    first: Rule
    second: Rule
    call: Call


def breakages(spec: Contract, via: str) -> list[Alone]:
    """Every rule broken alone, every way."""
    return [
        Alone(rule, way, spec.call(way.changes, soc=way.soc, via=via))
        for rule in spec.rules
        for way in rule.breaks
        if via == "c" or way.python
    ]


def _ways(first: Rule, second: Rule, via: str) -> list[tuple[Break, Break]]:
    """The first and the last way to break both: they differ most in the arguments they touch."""
    ways = [
        (one, other)
        for one, other in together(first, second)
        if via == "c" or (one.python and other.python)
    ]
    return ways if len(ways) < 3 else [ways[0], ways[-1]]


def rule_pairs(spec: Contract) -> Iterator[tuple[Rule, Rule]]:
    """Every two rules that can be broken, in the order of checking."""
    rules = [r for r in spec.rules if r.unreachable is None]
    for i, first in enumerate(rules):
        for second in rules[i + 1 :]:
            yield first, second


def pairs(spec: Contract, via: str) -> list[Pair]:
    """Every two rules broken together: merged where the breakages allow it, or as written."""
    found = []
    for first, second in rule_pairs(spec):
        for one, other in _ways(first, second, via):
            call = spec.call(one.changes, other.changes, soc=one.soc or other.soc, via=via)
            found.append(Pair(first, second, call))
        if changes := spec.pairs.get((first.id, second.id)):
            found.append(Pair(first, second, spec.call(changes, via=via)))
    return found


def cases(spec: Contract, via: str) -> list[tuple[Case, Call]]:
    """Every call that must succeed."""
    return [
        (case, Call(**{**case.call.as_json(), "via": via}))
        for case in spec.cases
        if via == "c" or case.python
    ]


def product_calls(spec: Contract, via: str) -> dict[str, Call]:
    """The base call on every product."""
    return {soc: spec.call(soc=soc, via=via) for soc in PRODUCTS}


@cache
def everything() -> tuple[Call, ...]:
    """All of these calls, of all operators."""
    calls: list[Call] = []
    for op in OPERATORS:
        spec = contract(op)
        for via in VIAS:
            calls += [alone.call for alone in breakages(spec, via)]
            calls += [pair.call for pair in pairs(spec, via)]
            calls += [call for _, call in cases(spec, via)]
            calls += product_calls(spec, via).values()
    return tuple(calls)


_TYPES = "|".join(sorted(DTYPES, key=len, reverse=True))
_FORMATS = "|".join(sorted(FORMATS, key=len, reverse=True))


def template(message: str) -> str:
    """A message without what depends on the call: lists, numbers, types, formats, products."""
    message = re.sub(r"\[[^\]]*\]", "[]", message)
    message = re.sub(r"\bAscend\w+", "PRODUCT", message)
    message = re.sub(rf"\b({_TYPES})\b", "TYPE", message)
    message = re.sub(rf"\b({_FORMATS})\b", "FORMAT", message)
    message = re.sub(r"TYPE(, TYPE)*( (and|or) TYPE)?", "TYPE", message)
    return re.sub(r"(?<![\w.])-?(\d[\w.+]*(e-\d+)?|inf|nan)\b", "#", message)
