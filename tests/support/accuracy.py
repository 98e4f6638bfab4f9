# SPDX-License-Identifier: Apache-2.0
"""The table of accuracies: its rows become tests, whose measurements are kept."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from softnpu.judging import ulp
from softnpu.judging.accuracy import Row, rows_of


@dataclass
class Measured:
    """The worst that the tests of one row have seen."""

    max_ulp: float = 0.0
    values: int = 0
    correctly_rounded: int = 0


measured: dict[Row, Measured] = {}


def rows(operator: str) -> list[Any]:
    """Return the table's rows for one operator, as parameters of a test."""
    found = rows_of(operator)
    return [pytest.param(row, id=f"{operator} {row.dtype_name}: {row.range}") for row in found]


def check(
    row: Row,
    computed: npt.NDArray[Any],
    reference: npt.NDArray[np.float64],
    *inputs: npt.NDArray[Any],
    zero_sign: bool = True,
    context: object = "",
) -> None:
    """Assert that every value keeps the row's promise, and record how far off the worst one is."""
    assert computed.dtype == row.dtype, f"computed {computed.dtype}, expected {row.dtype}"
    steps = ulp.distance(computed, reference, zero_sign=zero_sign)
    record = measured.setdefault(row, Measured())
    record.max_ulp = max(record.max_ulp, float(steps.max(initial=0)))
    record.values += steps.size
    record.correctly_rounded += int((steps == 0).sum())
    bad = steps > row.max_ulp
    if row.dtype.itemsize == 2:
        bad |= ~ulp.faithful(computed, reference)
    assert not bad.any(), _describe(row, bad, steps, computed, reference, inputs, context)


def check_share(row: Row) -> None:
    """Assert that enough of all values checked for a row so far were correctly rounded."""
    record = measured[row]
    share = record.correctly_rounded / record.values
    assert share >= row.correctly_rounded, f"{row}: only {share:.5%} are correctly rounded"


def packed() -> list[tuple[list[object], list[float]]]:
    """Return what was measured in plain values, for another process."""
    return [(list(astuple(row)), list(astuple(m))) for row, m in measured.items()]


def add(parts: list[tuple[list[Any], list[Any]]]) -> None:
    """Add what another process measured."""
    for row, (max_ulp, values, correctly_rounded) in parts:
        record = measured.setdefault(Row(*row), Measured())
        record.max_ulp = max(record.max_ulp, max_ulp)
        record.values += values
        record.correctly_rounded += correctly_rounded


def _describe(
    row: Row,
    bad: npt.NDArray[np.bool_],
    steps: npt.NDArray[np.float64],
    computed: npt.NDArray[Any],
    reference: npt.NDArray[np.float64],
    inputs: tuple[npt.NDArray[Any], ...],
    context: object,
) -> str:
    worst = np.unravel_index(int(np.argmax(np.where(bad, steps, -1))), steps.shape)
    given = [float(v[worst]) for v in inputs if v.shape == steps.shape]
    return (
        f"{row}: {int(bad.sum())} of {bad.size} values break it; the worst, at {worst}, is "
        f"{steps[worst]} ULP off: {float(computed[worst])!r} for {float(reference[worst])!r}, "
        f"inputs {given!r}, {context}"
    )


def summary() -> list[str]:
    """Return one line per row: what was measured beside what is promised."""
    return [
        f"{row.operator:28} {row.dtype_name:9} {row.range:24} {m.max_ulp:4g} of {row.max_ulp} ULP, "
        f"{m.correctly_rounded / max(m.values, 1):9.4%} of {m.values} correctly rounded"
        for row, m in measured.items()
    ]


def write(path: Path) -> None:
    """Write what was measured as JSON."""
    entries = [
        {
            "operator": row.operator,
            "dtype": row.dtype_name,
            "range": row.range,
            "promised_ulp": row.max_ulp,
            "measured_ulp": m.max_ulp,
            "values": m.values,
            "correctly_rounded": m.correctly_rounded / max(m.values, 1),
        }
        for row, m in measured.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries, indent=1) + "\n")
