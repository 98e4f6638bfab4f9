# SPDX-License-Identifier: Apache-2.0
"""An operator as its description states it: `operators/README.md` says how to write one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword
from pathlib import Path
from typing import Any

from . import checks

PRODUCTS = ("Ascend950", "Ascend910_93", "Ascend910B", "Ascend310B", "Ascend310P", "Ascend910")
HAVE_BF16 = ("Ascend950", "Ascend910_93", "Ascend910B")
REAL_TYPES = tuple(f"{u}INT{bits}" for bits in (8, 16, 32, 64) for u in ("", "U"))
REAL_TYPES += ("FLOAT16", "BF16", "FLOAT", "DOUBLE", "BOOL")
_POINTERS = ("tensor", "scalar", "int_array", "bool_array", "tensor_list", "text")
KINDS = (*_POINTERS, "int", "int8", "float", "double", "bool", "dtype")
_KEYS = {
    *("operator", "in_place", "header", "source", "pytorch", "products", "summary", "text"),
    *("formula", "latex", "where", "elementwise", "format", "result", "layout", "plan", "numbers"),
    *("kernels", "returns", "raises", "arguments", "checks", "example", "compute"),
}
_CPP_KEYWORDS = """
alignas alignof asm auto bool case catch char concept const constexpr const_cast decltype default
delete do double dynamic_cast enum explicit export extern false float friend goto inline int long
mutable namespace new noexcept nullptr operator private protected public register
reinterpret_cast requires short signed sizeof static static_cast struct switch template this
throw true typedef typeid typename union unsigned using virtual void volatile wchar_t
"""
_PHASES_OWN = {"workspaceSize", "executor", "workspace", "stream"}  # parameters of the C API
_ARGUMENT_KEYS = {
    *("kind", "role", "types", "rank", "empty", "strided", "reads", "formats", "default", "note"),
    *("length", "text", "takes", "optional", "absent"),
}


class DescriptionError(ValueError):
    """A description breaks the rules of `operators/README.md`."""


def snake_case(name: str) -> str:
    """Bring a documented name to the spelling of Python: selfOrResult to self_or_result."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True)
class Argument:
    """A documented argument."""

    name: str
    kind: str
    role: str  # in, out, inout, or attr for what is not a tensor
    types: tuple[str, ...] = ()
    rank: str = ""
    empty: bool | None = None
    strided: bool | None = None
    reads: bool = True  # False: only the descriptor is used, not the data
    formats: tuple[str, ...] = ()  # those that the operator tells apart
    length: int = 0  # of an array
    default: Any = None  # in Python
    note: str = ""
    takes: str = ""  # what else Python takes: "reduction" or "scale"
    text: str = ""  # for the docstring
    optional: bool = False  # null is allowed
    absent: str = "0"  # what a formula takes null for, in C++
    may_be_int4: bool = False  # of a tensor

    @property
    def field(self) -> str:
        """Its name in C++."""
        return snake_case(self.name)

    @property
    def python(self) -> str:
        """Its name in Python."""
        return "out" if self.role == "out" else self.field

    @property
    def is_output(self) -> bool:
        """Whether the operator writes to it."""
        return self.role in ("out", "inout")

    @property
    def is_pointer(self) -> bool:
        """Whether it can be null."""
        return self.kind in _POINTERS


@dataclass(frozen=True)
class Operator:
    """One operator of the C API, from a description or as the in-place form of one."""

    name: str  # without aclnn
    arguments: tuple[Argument, ...]
    checks: tuple[checks.Check, ...]
    table: dict[str, Any] = field(repr=False)
    in_place_of: str = ""  # the operator whose results this one writes over its input

    @property
    def aclnn(self) -> str:
        """The documented name of phase two."""
        return f"aclnn{self.name}"

    @property
    def op(self) -> str:
        """Its name among the contracts: inplace_elu."""
        return snake_case(self.name)

    @property
    def family(self) -> str:
        """The name of its files: that of the operator which this one is the in-place form of."""
        return snake_case(self.in_place_of or self.name)

    @property
    def python(self) -> str:
        """The name of the Python function."""
        return f"{self.family}_" if self.in_place_of else self.family

    @property
    def header(self) -> str:
        """The header that declares it."""
        return f"aclnnop/aclnn_{self.table.get('header', self.family)}.h"

    @property
    def products(self) -> tuple[str, ...]:
        """The products that have it."""
        return tuple(self.table["products"])

    @property
    def is_elementwise(self) -> bool:
        """Whether the output may be the same view as an input."""
        return bool(self.table.get("elementwise", False))

    @property
    def plan(self) -> str:
        """The class of a plan that is made by hand; empty for a generated one."""
        return str(self.table.get("plan", ""))

    @property
    def kernels(self) -> tuple[str, ...]:
        """Its elementwise kernels."""
        default = [self.family] if self.is_elementwise else []
        return tuple(self.table.get("kernels", default))

    @property
    def tensors(self) -> tuple[Argument, ...]:
        """Its tensors, in the documented order."""
        return tuple(a for a in self.arguments if a.kind == "tensor")

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """What a caller of the Python function gives: all arguments but the output."""
        return tuple(a for a in self.arguments if a.role != "out")

    @cached_property
    def output(self) -> Argument:
        """The tensor that it writes to."""
        return next(a for a in self.arguments if a.is_output)

    def argument(self, name: str) -> Argument:
        """Find an argument by its documented name."""
        return next(a for a in self.arguments if a.name == name)

    @property
    def summary(self) -> str:
        """What it computes, in a sentence."""
        summary = str(self.table["summary"])
        return f"{summary.rstrip('.')}, written over its input." if self.in_place_of else summary

    @property
    def pytorch(self) -> str:
        """PyTorch's operator of the same meaning; empty where there is none."""
        name = str(self.table.get("pytorch", ""))
        return f"{name}_" if name and self.in_place_of else name

    @property
    def latex(self) -> list[str]:
        """The lines of the formula as the site shows them."""
        return [self._in_its_words(line) for line in self.table.get("latex", [])]

    def text(self, key: str) -> str:
        """Get a text of the description."""
        return self._in_its_words(str(self.table.get(key, "")))

    def _in_its_words(self, words: str) -> str:
        """Let the texts of an in-place form speak of selfRef."""
        return re.sub(r"\b(self|out)\b", "selfRef", words) if self.in_place_of else words


def load(path: Path, tables: dict[str, Any]) -> list[Operator]:
    """Make the operators of one description: itself, and its in-place form if it has one.

    Raises
    ------
    DescriptionError
        The description breaks a rule.
    """
    try:
        return list(_operators(tables))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else error
        raise DescriptionError(f"{path}: {missing}") from error


def _operators(table: dict[str, Any]) -> Iterator[Operator]:
    _require_known(table, _KEYS, "the description")
    table = {"products": PRODUCTS, "checks": [], **table}
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", table["operator"]):
        raise ValueError(f"operator is {table['operator']!r}; expected a name such as LeakyRelu")
    if _is_reserved(snake_case(table["operator"])):
        raise ValueError(f"operator is {table['operator']!r}, which C++ or Python reserves")
    unknown = set(table["products"]) - set(PRODUCTS)
    if unknown:
        raise ValueError(f"products has {sorted(unknown)}; expected some of {list(PRODUCTS)}")
    arguments = tuple(_argument(name, row) for name, row in table["arguments"].items())
    outputs = [a.name for a in arguments if a.is_output]
    if len(outputs) != 1:
        raise ValueError(f"arguments has the outputs {outputs}; expected one with role = 'out'")
    likes = [f"like {a.name}" for a in arguments if a.kind == "tensor" and not a.is_output]
    if table.get("result", "by hand") not in (*likes, "by hand"):
        raise ValueError(f"result is {table['result']!r}; expected one of {likes}")
    rules = tuple(checks.read(row, arguments) for row in table["checks"])
    one = Operator(table["operator"], arguments, rules, table)
    yield one
    if table.get("in_place", False):
        yield in_place_form(one)


def _is_reserved(name: str) -> bool:
    return iskeyword(name) or name in _PHASES_OWN or name in _CPP_KEYWORDS.split()


def _argument(name: str, row: dict[str, Any]) -> Argument:
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ValueError(f"an argument is called {name!r}; expected a name such as negativeSlope")
    if _is_reserved(name) or _is_reserved(snake_case(name)):
        raise ValueError(f"an argument is called {name!r}, which is reserved")
    _require_known(row, _ARGUMENT_KEYS, f"argument {name}")
    kind = row.get("kind", "tensor")
    if kind not in KINDS:
        raise ValueError(f"argument {name} is of kind {kind!r}; expected one of {list(KINDS)}")
    values = {**row, "kind": kind, "role": row.get("role", "in" if kind == "tensor" else "attr")}
    for key in ("types", "formats"):
        values[key] = tuple(values.get(key, ()))
    unknown = [each for each in values["types"] if each not in checks.TYPES]
    if unknown:
        raise ValueError(
            f"argument {name} has the type {unknown[0]!r}; expected some of {list(checks.TYPES)}"
        )
    values["rank"] = rank = str(values.get("rank", ""))
    if rank and (not re.fullmatch(r"[0-8](-[0-8])?", rank) or rank[0] > rank[-1]):
        raise ValueError(
            f"argument {name} has the rank {rank!r}; expected one such as '2' or '0-8'"
        )
    if kind == "tensor":
        values.setdefault("empty", True)
        values.setdefault("strided", True)
    return Argument(name, **values)


def _require_known(row: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(row) - known)
    if unknown:
        raise ValueError(f"{where} has the unknown key {unknown[0]!r}")


def in_place_form(one: Operator) -> Operator:
    """Make the in-place form: the first tensor is the output, too, and is called selfRef."""
    first = one.tensors[0]
    renamed = replace(first, name="selfRef", role="inout")
    arguments = tuple(renamed if a is first else a for a in one.inputs)
    gone = one.output.name
    rules = [check.in_place(first.name, gone, "selfRef") for check in one.checks]
    kept = tuple(check for check in rules if check is not None)
    return Operator(f"Inplace{one.name}", arguments, kept, one.table, in_place_of=one.name)
