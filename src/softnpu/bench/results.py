# SPDX-License-Identifier: Apache-2.0
"""What a run found, and its file. benchmarks/README.md documents the fields."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from softnpu.bench.cases import Case
from softnpu.bench.runner import Timing, apart

SCHEMA = 1
# Where other programs have more of the machine, times are not the code's own.
BUSY = 0.03
SIDES = ("softnpu", "peer", "triad")


@dataclass(frozen=True)
class Row:
    """One case, timed."""

    id: str
    group: str
    operator: str
    variant: str
    dtype: str
    layout: str
    size: str
    elements: int
    bytes: int
    softnpu: Timing
    peer: Timing | None = None
    triad: Timing | None = None
    # The part of the machine that other programs had meanwhile.
    busy: float = 0.0

    @classmethod
    def of(cls, case: Case, timings: dict[str, Timing], busy: float = 0.0) -> Row:
        """Join a case and its timings."""
        return cls(
            case.id,
            case.group,
            case.operator,
            case.variant,
            case.dtype,
            case.layout,
            case.size,
            case.elements,
            case.bytes,
            timings["softnpu"],
            timings.get("peer"),
            timings.get("triad"),
            busy,
        )

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer."""
        return None if self.peer is None else self.peer.median / self.softnpu.median

    @property
    def noise(self) -> float:
        """The quotient of the ratios of two identical runs, at least 1; of the times without."""
        if self.peer is None:
            return self.softnpu.noise
        first, second = (
            peer / own for peer, own in zip(self.peer.halves, self.softnpu.halves, strict=True)
        )
        return apart(first, second)

    @property
    def gb_per_s(self) -> float | None:
        """The bandwidth, when bytes are what the case is about."""
        return self.bytes / self.softnpu.median / 1e9 if self.bytes else None

    @property
    def ceiling_gb_per_s(self) -> float | None:
        """The triad's bandwidth on as many bytes, measured in the same rounds."""
        return None if self.triad is None else self.bytes / self.triad.median / 1e9

    @property
    def share(self) -> float | None:
        """The bandwidth over the ceiling."""
        return None if self.triad is None else self.triad.median / self.softnpu.median

    @property
    def slower(self) -> bool:
        """Whether the peer is faster by more than the noise."""
        return self.ratio is not None and self.ratio * self.noise < 1


def write_whole(file: Path, text: str) -> None:
    """Write a file, or leave it as it was; errors name it."""
    scratch = file.with_name(f".{file.name}.new")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(file)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        error.filename = str(file)
        raise


@dataclass
class Results:
    """A whole run."""

    machine: dict[str, Any]
    versions: dict[str, str]
    settings: dict[str, Any]
    ceilings: list[dict[str, Any]]
    rows: list[Row]
    import_time: dict[str, Any] | None = None
    skipped: list[str] | None = None

    def write(self, file: Path) -> None:
        """Write it as JSON; derived numbers are added for readers without this program."""
        cases = []
        for row in self.rows:
            entry = asdict(row)
            names = ("ratio", "noise", "gb_per_s", "ceiling_gb_per_s", "share")
            cases.append({**entry, **{name: getattr(row, name) for name in names}})
        text = json.dumps(
            {
                "schema": SCHEMA,
                "machine": self.machine,
                "versions": self.versions,
                "settings": self.settings,
                "ceilings": self.ceilings,
                "import": self.import_time,
                "skipped": self.skipped or [],
                "cases": cases,
            },
            indent=1,
        )
        write_whole(file, text + "\n")

    @classmethod
    def read(cls, file: Path) -> Results:
        """Read what `write` wrote; raises ValueError for anything else."""
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        try:
            for name in ("machine", "versions"):
                if not isinstance(data[name], dict):
                    raise ValueError(f"{name} is {data[name]!r:.60}")
            return cls(
                machine=data["machine"],
                versions=data["versions"],
                settings=data["settings"],
                ceilings=data["ceilings"],
                rows=[_row(entry) for entry in data["cases"]],
                import_time=data["import"],
                skipped=data["skipped"],
            )
        except KeyError as error:
            raise ValueError(f"it lacks {error}") from None


def geometric_mean(values: Iterable[float]) -> float:
    """Give the geometric mean of positive numbers; NaN of none."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def _row(entry: Any) -> Row:
    """Make a row of what a file holds; ValueError when that is no case."""
    if not isinstance(entry, dict):
        raise ValueError(f"a case is {entry!r:.60}")
    given: dict[str, Any] = {field.name: entry[field.name] for field in fields(Row)}
    where = f"case {given['id']!r:.80}"
    for name in ("id", "group", "operator", "variant", "dtype", "layout", "size"):
        if not isinstance(given[name], str):
            raise ValueError(f"{where}: {name} is {given[name]!r:.60}, no text")
    for name in ("elements", "bytes", "busy"):
        _check_number(where, name, given[name], positive=False)
    return Row(**{**given, **{side: _timing(f"{where}: {side}", given[side]) for side in SIDES}})


def _timing(where: str, entry: Any) -> Any:
    if entry is None and not where.endswith(" softnpu"):
        return None
    if not isinstance(entry, dict):
        raise ValueError(f"{where} is {entry!r:.60}")
    given = {field.name: entry[field.name] for field in fields(Timing)}
    halves = given["halves"]
    if not isinstance(halves, list) or len(halves) != 2:
        raise ValueError(f"{where}: halves is {halves!r:.60}, no two numbers")
    for name, value in (*given.items(), *(("halves", half) for half in halves)):
        if value is not halves:
            _check_number(where, name, value, positive=True)
    return Timing(**{**given, "halves": tuple(halves)})


def _check_number(where: str, name: str, value: Any, positive: bool) -> None:
    # NaN compares with nothing; booleans are integers, but no measurements.
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not real or not 0 <= value <= sys.float_info.max or (positive and value == 0):
        least = "above 0" if positive else "of 0 or more"
        raise ValueError(f"{where}: {name} is {value!r:.60}, no number {least}")
