# SPDX-License-Identifier: Apache-2.0
"""The operators' contracts, from their descriptions: what ``softnpu ops`` prints."""

import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from softnpu import toml
from softnpu.codegen.build import read
from softnpu.codegen.core import rules
from softnpu.codegen.description import HAVE_BF16, PRODUCTS, REAL_TYPES, Operator
from softnpu.codegen.description import Argument as Described

PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Argument:
    """A documented argument."""

    name: str
    role: str
    kind: str
    has_format: bool

    @property
    def is_output(self) -> bool:
        """Whether the operator writes to it."""
        return self.role in ("out", "inout")


@dataclass(frozen=True)
class Contract:
    """One operator's table."""

    name: str
    table: dict[str, Any]

    @property
    def operator(self) -> str:
        """The name of phase two; phase one has the suffix GetWorkspaceSize."""
        return str(self.table["operator"])

    @property
    def python(self) -> str:
        """The name of the Python function."""
        return str(self.table["python"])

    @property
    def family(self) -> str:
        """The operator with the same kernel and reference: for in-place ones, the other form."""
        return self.name.removeprefix("inplace_")

    @property
    def arguments(self) -> list[Argument]:
        """The arguments in the documented order, which is that of the Python functions."""
        return [
            Argument(row["name"], row["role"], row["kind"], "formats" in row)
            for row in self.table["argument"]
        ]

    @property
    def products(self) -> list[str]:
        """The products that have the operator, in the table's order."""
        return [name for name, supported in self.table["products"].items() if supported]

    @property
    def dtypes(self) -> list[str]:
        """The data types of the first tensor, which determine the others."""
        first = next(row for row in self.table["argument"] if row["role"] in ("in", "inout"))
        return list(first["dtypes"])

    def has_bf16(self, product: str) -> bool:
        """Whether the operator takes BF16 on ``product``."""
        return "BF16" in self.dtypes and product in HAVE_BF16


@cache
def load_contracts() -> dict[str, Contract]:
    """Load all contracts by the operator's name in snake_case, in alphabetical order."""
    operators = sorted(read(_folder()), key=lambda operator: operator.op)
    return {operator.op: Contract(operator.op, _table(operator)) for operator in operators}


def _table(operator: Operator) -> dict[str, Any]:
    """Build a contract from a description."""
    texts = {key: operator.text(key) for key in ("formula", "where")}
    return {
        "operator": operator.aclnn,
        "python": operator.python,
        "source": operator.aclnn,
        "header": operator.header,
        "summary": operator.summary,
        **texts,
        "latex": operator.latex,
        "example": operator.table.get("example", ""),
        **({"pytorch": operator.pytorch} if operator.pytorch else {}),
        "elementwise": operator.is_elementwise,
        "products": {name: name in operator.products for name in PRODUCTS},
        "argument": [_argument(argument) for argument in operator.arguments],
        "rule": [
            {"id": rule, "status": status, "summary": summary}
            for rule, status, summary in rules(operator)
        ],
    }


def _argument(argument: Described) -> dict[str, Any]:
    row = {"name": argument.name, "python": argument.python}
    row |= {"role": argument.role, "kind": argument.kind}
    types = REAL_TYPES if argument.kind == "scalar" else argument.types
    described: dict[str, Any] = {"dtypes": list(types), "formats": list(argument.formats)}
    described |= {"rank": argument.rank, "empty": argument.empty, "strided": argument.strided}
    described |= {"note": argument.note}
    return row | {key: value for key, value in described.items() if value not in ([], "", None)}


def find(name: str) -> Contract:
    """Find an operator by its documented name or the Python function's, spelt freely.

    Raises
    ------
    LookupError
        There is none; the second argument has a suggestion.
    """
    contracts = load_contracts()
    by_name = {_plain(key): contract for key, contract in contracts.items()}
    by_name |= {contract.python: contract for contract in contracts.values()}
    found = by_name.get(name) or by_name.get(_plain(name))
    if found is None:
        close = difflib.get_close_matches(_plain(name), by_name, n=1, cutoff=0.9)
        close = close or difflib.get_close_matches(_plain(name), by_name, n=5)
        close = close or [key for key in by_name if _plain(name) and _plain(name) in key]
        meant = list(dict.fromkeys(by_name[key].operator for key in close))[:3]
        guess = f"Did you mean {' or '.join(meant)}? " if meant else ""
        raise LookupError(f"there is no documented operator {name!r}", guess)
    return found


def shared_rules() -> list[dict[str, Any]]:
    """Load the rules that hold for every operator."""
    return list(toml.read(PACKAGE / "shared_rules.toml")["rule"])


def _plain(name: str) -> str:
    """Normalise aclnnEluBackward, its phase one, EluBackward and elu_backward to one spelling."""
    plain = name.lower().replace("_", "").removeprefix("aclnn")
    return plain.removesuffix("getworkspacesize")


def _folder() -> Path:
    installed = PACKAGE / "operators"
    return installed if installed.is_dir() else PACKAGE.parents[1] / "operators"
