# SPDX-License-Identifier: Apache-2.0
"""The checks of a description: predicates that C++ is generated for, and those made by hand.

A check is a table with the id of its rule and one predicate, whose value names arguments:

    { rule = "dtype-unsupported", types = ["self"] }

`SUMMARIES` has all of them. What none expresses is ``by_hand = "function"``, with a ``summary`` or,
for a function with several rules, ``rules``: a list of tables with ``rule`` and ``summary``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

# Data types by their documented names, as C++ spells them.
TYPES = {
    **{"FLOAT": "f32", "FLOAT16": "f16", "BF16": "bf16", "DOUBLE": "f64", "BOOL": "boolean"},
    **{f"{u}INT{bits}": f"{u.lower() or 'i'}{bits}" for u in ("", "U") for bits in (8, 16, 32, 64)},
    **{"COMPLEX64": "c64", "COMPLEX128": "c128"},
}


class Named(Protocol):
    """An argument, as a check sees it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def types(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def rank(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Check:
    """One line of a description's checks."""

    predicate: str
    rules: dict[str, str]  # ids, and what breaks each
    names: tuple[str, ...] = ()  # of the arguments that it is about
    function: str = ""  # by hand: the member function of the operator

    def in_place(self, first: str, gone: str, renamed: str) -> Check | None:
        """Make it the check of an in-place form, or nothing where no pair is left to compare."""
        if self.predicate == "by_hand":
            return self
        names = tuple(renamed if n == first else n for n in self.names if n != gone)
        if not names or (self.predicate in OF_PAIRS and len(names) < 2):
            return None
        ((rule, _),) = self.rules.items()
        return replace(self, names=names, rules={rule: SUMMARIES[self.predicate](names)})


def read(row: dict[str, Any], arguments: Sequence[Named]) -> Check:
    """Read one line."""
    row = dict(row)
    known = {argument.name for argument in arguments}
    function = row.pop("by_hand", "")
    if function:
        rules = row.pop("rules", None) or [row.copy()]
        _require_empty({key: row[key] for key in row if key not in ("rule", "summary")})
        return Check("by_hand", {r["rule"]: r["summary"] for r in rules}, function=function)
    rule, summary = row.pop("rule"), row.pop("summary", "")
    if not re.fullmatch(r"[a-z0-9-]+", rule):
        raise ValueError(f"rule is {rule!r}; expected a name such as shape-differs")
    if len(row) != 1 or not set(row) <= set(SUMMARIES):
        raise ValueError(f"check {rule!r} has {list(row)}; expected one of {list(SUMMARIES)}")
    ((predicate, value),) = row.items()
    names = (value,) if isinstance(value, str) else tuple(value)
    if not set(names) <= known:
        raise ValueError(f"check {rule!r} names {sorted(set(names) - known)}, which is no argument")
    for argument in (each for each in arguments if each.name in names):
        _require_fits(rule, predicate, argument)
    return Check(predicate, {rule: summary or SUMMARIES[predicate](names)}, names)


def _require_empty(row: dict[str, Any]) -> None:
    if row:
        raise ValueError(f"a check by hand has the unknown key {next(iter(row))!r}")


def _require_fits(rule: str, predicate: str, argument: Named) -> None:
    kind = "scalar" if predicate == "real" else "tensor"
    if argument.kind != kind:
        raise ValueError(f"check {rule!r} names {argument.name}, which is no {kind}")
    if predicate in ("types", "rank") and not getattr(argument, predicate):
        raise ValueError(f"check {rule!r} names {argument.name}, which has no {predicate!r}")


def either(names: Sequence[str], word: str = "or") -> str:
    """Join names: a, b or c."""
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last


def both(names: Sequence[str]) -> str:
    """Join names: a, b and c."""
    return either(names, "and")


# What breaks a rule, for `softnpu ops` and the docs.
SUMMARIES: dict[str, Callable[[Sequence[str]], str]] = {
    "types": lambda n: (
        f"the data type of {either(n)} is not supported on this product, or a format is private"
    ),
    "same_type": lambda n: f"{both(n)} differ in data type",
    "same_shape": lambda n: f"{both(n)} differ in shape",
    "real": lambda n: f"{either(n)} cannot be converted to FLOAT",
    "cast": lambda n: f"{n[0]}'s data type cannot be cast to {n[1]}'s",
    "rank": lambda n: f"the rank of {either(n)} is not supported",
    "contiguous": lambda n: f"{either(n)} is not contiguous",
}
OF_PAIRS = ("same_type", "same_shape", "cast")
