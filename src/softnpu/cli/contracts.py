# SPDX-License-Identifier: Apache-2.0
"""The operators' contracts: the tables that the tests run and ``softnpu ops`` prints."""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softnpu.cli.environment import PACKAGE

# Python 3.10 has no tomllib; tomli is the same module under its earlier name.
_toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


@dataclass(frozen=True)
class Contract:
    """One operator's table."""

    name: str
    table: dict[str, Any]

    @property
    def operator(self) -> str:
        """The name of the two phases, without the GetWorkspaceSize of the first."""
        return str(self.table["operator"])

    @property
    def products(self) -> list[str]:
        """The products that have the operator, in the table's order."""
        return [name for name, supported in self.table["products"].items() if supported]

    @property
    def dtypes(self) -> list[str]:
        """The data types of the first tensor, from which the others follow."""
        first = next(row for row in self.table["argument"] if row["role"] in ("in", "inout"))
        return list(first["dtypes"])

    def has_bf16(self, product: str) -> bool:
        """Whether the operator takes BF16 on ``product``; true where the table is silent."""
        return bool(self.table.get("bf16", {}).get(product, True))


def load_contracts() -> dict[str, Contract]:
    """Load all contracts by the operator's name in snake_case, in alphabetical order."""
    tables = {file.stem: _read(file) for file in sorted(_folder().glob("*.toml"))}
    return {name: Contract(name, table) for name, table in tables.items() if "operator" in table}


def shared_rules() -> list[dict[str, Any]]:
    """Load the rules that hold for every operator."""
    return list(_read(_folder() / "common.toml")["rule"])


def plain(name: str) -> str:
    """Bring to one spelling aclnnEluBackward, EluBackward and elu_backward."""
    return name.lower().replace("_", "").removeprefix("aclnn")


def _read(file: Path) -> dict[str, Any]:
    table: dict[str, Any] = _toml.loads(file.read_text(encoding="utf-8"))
    return table


def _folder() -> Path:
    installed = PACKAGE / "contracts"
    # In a source tree the tables lie where the tests use them.
    return installed if installed.is_dir() else PACKAGE.parents[1] / "tests" / "contract"
