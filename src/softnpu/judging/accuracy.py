# SPDX-License-Identifier: Apache-2.0
"""The table of accuracies, which the tests assert, and its bounds for one result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from softnpu import toml
from softnpu.judging.dtypes import BY_NAME


@dataclass(frozen=True)
class Row:
    """The accuracy of one operator for one data type and one range of inputs."""

    operator: str
    dtype_name: str
    range: str
    max_ulp: float
    correctly_rounded: float
    reduction: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type itself."""
        return BY_NAME[self.dtype_name]


@dataclass(frozen=True)
class Promise:
    """The table's bounds for every element of one result.

    Attributes
    ----------
    max_ulp : float
        Largest distance from the float64 definition rounded once to ``unit``.
    unit : np.dtype
        The type in whose steps the distance is counted.
    faithful : bool
        Whether each element must be one of the two values that enclose the exact one.
    double_sum : float
        Of a float64 sum: the largest error in units of ceil(log2(n)) * 2**-53 * sum(|x|), in place
        of ``max_ulp``; else 0.
    """

    max_ulp: float
    unit: np.dtype[Any]
    faithful: bool = False
    double_sum: float = 0

    def __str__(self) -> str:
        """Describe the bounds in words."""
        if self.double_sum:
            factor = "" if self.double_sum == 1 else f"{self.double_sum:g} * "
            return f"{factor}ceil(log2(n)) * 2**-53 * sum(|x|) for a sum of n terms"
        if not self.max_ulp:
            return "exactly the reference's value"
        within = f"{self.max_ulp:g} ULP of {self.unit.name}"
        return within + (", and next to the exact value" if self.faithful else "")


def every_row() -> list[Row]:
    """Return the whole table."""
    return [row for operator in _tables() for row in rows_of(operator)]


def rows_of(operator: str) -> list[Row]:
    """Return the rows of one operator."""
    return [
        Row(
            operator,
            row["dtype"],
            row["range"],
            row["max_ulp"],
            row.get("correctly_rounded", 0),
            row.get("reduction", ""),
        )
        for row in _tables()[operator].get("rows", [])
    ]


def promise(operator: str, dtype: np.dtype[Any], reduction: str = "") -> Promise:
    """Return the table's bounds for an operator's results of one type.

    Raises
    ------
    LookupError
        The table has no row for the type.
    """
    table = _tables()[operator]
    if dtype.name in table.get("exact", []):
        return Promise(0, dtype)
    if dtype == np.float64 and "double_sum" in table:
        return Promise(0, dtype, double_sum=table["double_sum"])
    unit = np.dtype(np.float32) if dtype.name in table.get("as_float32", []) else dtype
    bounds = [
        row.max_ulp
        for row in rows_of(operator)
        if row.dtype == unit and row.reduction in ("", reduction)
    ]
    if not bounds:
        raise LookupError(f"{operator}: the table of accuracies has no row for {dtype.name}")
    return Promise(max(bounds), unit, faithful=unit.itemsize == 2)


@cache
def _tables() -> dict[str, Any]:
    return toml.read(Path(__file__).with_name("accuracy.toml"))
