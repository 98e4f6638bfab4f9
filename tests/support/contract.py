# SPDX-License-Identifier: Apache-2.0
"""The contract's TOML files as objects: rules in the order of checking, and calls."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from softnpu import toml
from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "contract"
DEFAULT_SOC = "Ascend910B"
Table = dict[str, Any]


@dataclass(frozen=True)
class Argument:
    """A documented argument."""

    name: str
    python: str
    role: str
    kind: str
    formats: tuple[str, ...] = ()
    reads: bool = True

    @property
    def letter(self) -> str:
        """Its C type, as `capi_symbols.LETTERS` has it."""
        return {"int": "l", "float": "f", "double": "d", "bool": "b"}.get(self.kind, "p")

    @property
    def is_output(self) -> bool:
        """Whether the operator writes to it."""
        return self.role in ("out", "inout")


@dataclass(frozen=True)
class Break:
    """One way to break one rule."""

    changes: Table
    argument: tuple[str, ...]
    soc: str | None
    python: bool


@dataclass(frozen=True)
class Rule:
    """A rule, with every way to break it."""

    id: str
    status: int
    argument: tuple[str, ...]
    breaks: tuple[Break, ...]
    stage: str  # "own" for the operator's; else as in common.toml
    unreachable: str | None = None


@dataclass
class Call:
    """A call of an operator; plain data, so that another process can make it."""

    op: str
    arguments: Table
    soc: str = DEFAULT_SOC
    via: str = "c"
    run: bool = False

    def as_json(self) -> Table:
        """A form that survives JSON; `Call(**form)` is the way back."""
        return asdict(self)


@dataclass
class Case:
    """A call that must succeed, and what it must compute."""

    name: str
    call: Call
    expect: list[Any] | None
    ulp: int
    python: bool


@dataclass
class Contract:
    """One operator's statement, the common rules in their places."""

    op: str
    operator: str
    python: str
    arguments: tuple[Argument, ...]
    base: Table
    products: dict[str, bool]
    elementwise: bool
    rules: tuple[Rule, ...] = ()
    pairs: dict[tuple[str, str], Table] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)

    @property
    def output(self) -> str:
        """The output's name."""
        return next(a.name for a in self.arguments if a.is_output)

    @property
    def family(self) -> str:
        """The operator that it shares kernel, reference and Python module with: itself, or the one
        whose results it writes over its input.
        """
        return self.op.removeprefix("inplace_")

    def call(self, *changes: Table, soc: str | None = None, **more: Any) -> Call:
        """The base call with changes."""
        return Call(self.op, merge(self.base, *changes), soc or DEFAULT_SOC, **more)


def load(path: Path) -> Table:
    """A TOML file of this folder."""
    table: Table = toml.read(path)
    return table


def _operators() -> Iterator[str]:
    for path in FOLDER.glob("*.toml"):
        if path.stem != "common":
            yield path.stem
            if load(path).get("in_place"):
                yield f"inplace_{path.stem}"


OPERATORS = tuple(sorted(_operators()))


# --- merging changes into a call ----------------------------------------


def merge(base: Table, *changes: Table) -> Table:
    """The base with each change on top; a table changes the fields that it names."""
    merged = copy.deepcopy(base)
    for change in changes:
        for name, value in change.items():
            old = merged.get(name)
            if isinstance(value, dict) and isinstance(old, dict):
                merged[name] = {**old, **value}
            elif isinstance(value, dict) and isinstance(old, list):
                merged[name] = {"values": old, **value}
            else:
                merged[name] = copy.deepcopy(value)
    return merged


def _fields_clash(a: Table, b: Table) -> bool:
    if "handle" in a or "handle" in b:
        return True
    if a.keys() & b.keys():  # equal values too: together they may mend what each breaks
        return True
    for one, other in ((a, b), (b, a)):
        if "shape" in one and any(isinstance(other.get(k), list) for k in ("strides", "storage")):
            return True
        if "alias" in one and other.keys() & {"data", "storage", "room"}:
            return True
    return False


def _alias_clashes(a: Table, b: Table) -> bool:
    """An alias needs a live tensor, with data and room, in the place it points to."""
    for value in a.values():
        target = b.get(value["alias"]) if isinstance(value, dict) and "alias" in value else None
        if target == "null" or (
            isinstance(target, dict) and target.keys() & {"handle", "data", "storage", "room"}
        ):
            return True
    return False


def _formats(a: Table) -> bool:
    """Formats are compared with each other, so that two changes of them may mend one another."""
    return any(isinstance(value, dict) and "format" in value for value in a.values())


def clash(a: Table, b: Table) -> bool:
    """Whether two changes cannot be made together."""
    for name in a.keys() & b.keys():
        if not (isinstance(a[name], dict) and isinstance(b[name], dict)):
            return True
        if _fields_clash(a[name], b[name]):
            return True
    return (_formats(a) and _formats(b)) or _alias_clashes(a, b) or _alias_clashes(b, a)


def together(first: Rule, second: Rule) -> Iterator[tuple[Break, Break]]:
    """The ways to break both rules in one call."""
    for one, other in itertools.product(first.breaks, second.breaks):
        same_soc = one.soc is None or other.soc is None or one.soc == other.soc
        if same_soc and not clash(one.changes, other.changes):
            yield one, other


# --- reading the files ----------------------------------------


def _selected(spec: Contract, selector: str) -> list[str]:
    """The arguments that a name starting with "@" stands for."""
    wanted: dict[str, Callable[[Argument], bool]] = {
        "@tensor": lambda a: a.kind == "tensor",
        "@data": lambda a: a.kind == "tensor" and a.reads,
        "@in": lambda a: a.kind == "tensor" and a.role == "in",
        "@out": lambda a: a.is_output,
        "@scalar": lambda a: a.kind == "scalar",
        "@int_array": lambda a: a.kind == "int_array",
    }
    return [a.name for a in spec.arguments if wanted[selector](a)]


def expanded(spec: Contract, changes: Table) -> Iterator[tuple[str, Table]]:
    """The changes for every argument that their selectors stand for, with that argument's name."""
    if not any(name.startswith("@") for name in changes):
        yield "", changes
        return
    ((selector, change),) = changes.items()
    for name in _selected(spec, selector):
        if change.get("alias") == "@in":
            for other in _selected(spec, "@in"):
                yield name, {name: {**change, "alias": other}}
        else:
            yield name, {name: change}


def _breaks(spec: Contract, rule: Table) -> Iterator[Break]:
    for entry in rule.get("break", []):
        if entry.get("elementwise", spec.elementwise) != spec.elementwise:
            continue
        soc = entry.get("soc")
        if soc == "@without":
            soc = next(name for name, has in spec.products.items() if not has)
        python = bool(entry.get("python", rule.get("python", True)))
        for name, changes in expanded(spec, entry["set"]):
            argument = entry.get("argument", rule["argument"])
            yield Break(changes, tuple(a.replace("@", name) for a in argument), soc, python)


def _rule(spec: Contract, table: Table) -> Rule:
    return Rule(
        table["id"],
        table["status"],
        tuple(table["argument"]),
        tuple(_breaks(spec, table)),
        table.get("stage", "own"),
        table.get("unreachable", {}).get(spec.operator),
    )


def _ordered(spec: Contract, own: list[Table], common: list[Table]) -> tuple[Rule, ...]:
    shared = [_rule(spec, table) for table in common]
    if not _selected(spec, "@in"):  # nothing that an output could overlap
        shared = [r for r in shared if r.id != "output-overlaps-input"]
    mine = [_rule(spec, table) for table in own]
    order = [r for r in mine if r.status == 161001]
    order += [r for r in shared if r.stage == "null"]
    order += [r for r in shared if r.stage == "handle"]
    order += [r for r in mine if r.status != 161001]
    order += [r for r in shared if r.stage == "tail"]
    return tuple(order)


def _cases(spec: Contract, tables: list[Table], unchanged: Table, *, own: bool) -> Iterator[Case]:
    """The calls that must succeed; shared ones compute what the unchanged call computes."""
    for table in tables:
        if table.get("elementwise", spec.elementwise) != spec.elementwise:
            continue
        for name, changes in expanded(spec, table.get("set", {})):
            run = not table.get("phase_one_only", False)
            call = spec.call(changes, soc=table.get("soc"), run=run)
            source = table if own else unchanged
            label = f"{table['name']} ({name})" if name else table["name"]
            python = table.get("python", True)
            yield Case(label, call, source.get("expect"), source.get("ulp", 0), python)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _argument(name: str, words: str) -> Argument:
    role, kind, *more = words.split()
    formats = ("NCDHW", "NDHWC") if "formats" in more else ()
    python = "out" if role == "out" else _snake_case(name)
    return Argument(name, python, role, kind, formats, "unread" not in more)


def _null_rule(argument: Argument) -> Table:
    """The rule that a pointer is not null; None as out asks for a new array."""
    stem = argument.name.removesuffix("Ref") if argument.role == "out" else argument.name
    way: Table = {"set": {argument.name: "null"}}
    if argument.role == "out":
        way |= {"python": False, "why": "out=None asks for a new array"}
    name = _snake_case(stem).replace("_", "-")
    return {"id": f"{name}-null", "status": 161001, "argument": [argument.name], "break": [way]}


@cache
def statement(op: str) -> Table:
    """The table of an operator, with the null rules that follow from its arguments."""
    family = op.removeprefix("inplace_")
    table = load(FOLDER / f"{family}.toml")
    more = FOLDER / "cases" / f"{family}.toml"
    cases = load(more) if more.is_file() else {}
    table |= {"pair": cases.get("pair", []), "accept": cases.get("accept", [])}
    table = table if op == family else _in_place(table)
    table["arguments"] = [_argument(*each) for each in table["arguments"].items()]
    pointers = [a for a in table["arguments"] if a.kind in ("tensor", "scalar", "int_array")]
    own = [{"status": 161002, **rule} for rule in table["rule"]]
    return table | {"rule": [*map(_null_rule, pointers), *own]}


@cache
def contract(op: str) -> Contract:
    """An operator's contract."""
    table, common = statement(op), load(FOLDER / "common.toml")
    spec = Contract(
        op,
        table["operator"],
        op.removeprefix("inplace_") + "_" * op.startswith("inplace_"),
        tuple(table["arguments"]),
        table["base"],
        table["products"],
        table["elementwise"],
    )
    spec.rules = _ordered(spec, table["rule"], common["rule"])
    spec.pairs = {(p["rules"][0], p["rules"][1]): p["set"] for p in table["pair"]}
    accepted = table["sample"] + table["accept"]
    unchanged = next(c for c in accepted if not c.get("set") and "soc" not in c)
    spec.cases = list(_cases(spec, accepted, unchanged, own=True))
    spec.cases += list(_cases(spec, common["accept"], unchanged, own=False))
    return spec


# --- the in-place form of an operator: self is selfRef, and there is no out ----------------------


def _renamed(changes: Table) -> Table:
    return {"selfRef" if k == "self" else k: v for k, v in changes.items() if k != "out"}


def _kept(entries: list[Table]) -> Iterator[Table]:
    """Leave out what is about out alone, and what is marked."""
    for entry in entries:
        changes = _renamed(entry.get("set", {}))
        if entry.get("in_place", True) and bool(changes) == bool(entry.get("set")):
            renamed = ["selfRef" if a == "self" else a for a in entry.get("argument", [])]
            yield entry | {"set": changes} | ({"argument": renamed} if renamed else {})


def _in_place(table: Table) -> Table:
    rules = [
        rule | {"break": list(_kept(rule["break"]))}
        for rule in _kept([{**rule, "set": {}} for rule in table["rule"]])
    ]
    ids = {rule["id"] for rule in rules}
    arguments = {n: w for n, w in table["arguments"].items() if n not in ("self", "out")}
    return table | {
        "operator": table["operator"].replace("aclnn", "aclnnInplace", 1),
        "arguments": {"selfRef": "inout tensor", **arguments},
        "base": _renamed(table["base"]),
        "rule": rules,
        "pair": [pair for pair in _kept(table["pair"]) if set(pair["rules"]) <= ids],
        "accept": list(_kept(table["accept"])),
    }
