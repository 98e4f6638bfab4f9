# SPDX-License-Identifier: Apache-2.0
"""What a run found, and its file. benchmarks/README.md documents the fields."""

from __future__ import annotations

import json
import math
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
        file.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Results:
        """Read what `write` wrote; raises ValueError for anything else."""
        data = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"{file} is no result of this benchmark (schema {SCHEMA})")
        return cls(
            machine=data["machine"],
            versions=data["versions"],
            settings=data["settings"],
            ceilings=data["ceilings"],
            rows=[_row(entry) for entry in data["cases"]],
            import_time=data["import"],
            skipped=data["skipped"],
        )


def geometric_mean(values: Iterable[float]) -> float:
    """Give the geometric mean of positive numbers; NaN of none."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def _row(entry: dict[str, Any]) -> Row:
    names = [field.name for field in fields(Row) if field.name not in SIDES]
    given: dict[str, Any] = {name: entry[name] for name in names}
    return Row(**given, **{side: _timing(entry[side]) for side in SIDES})


def _timing(entry: dict[str, Any] | None) -> Any:
    if entry is None:
        return None
    return Timing(**{**entry, "halves": tuple(entry["halves"])})
