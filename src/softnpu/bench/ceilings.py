# SPDX-License-Identifier: Apache-2.0
"""What the memory of this machine gives, measured in the process of the cases."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from softnpu.bench import native
from softnpu.bench.runner import Side

# The numbers are those of the native loops.
KINDS = {"read": 1, "copy": 2, "triad": 3}
MIB = 1 << 20
SIZES = (MIB // 4, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB)
QUICK_SIZES = (MIB // 4, MIB, 4 * MIB, 16 * MIB)
# The bytes that one measurement moves at least.
_MOVED = 256 * MIB
_ROUNDS = 7


@dataclass(frozen=True)
class Ceiling:
    """The median bandwidth of one loop at one size, in GB/s (1e9 bytes, each moved once)."""

    kind: str
    bytes: int
    streaming: bool
    huge_pages: bool
    threads: int
    gb_per_s: float


@dataclass(frozen=True)
class Ceilings:
    """All that was measured before the cases."""

    rows: tuple[Ceiling, ...]
    threads: int
    huge_pages: bool

    def streams(self, size: int) -> bool:
        """Whether the triad is faster with streaming stores at about this size."""
        here = [
            row for row in self.rows if row.kind == "triad" and row.huge_pages == self.huge_pages
        ]
        near = min((row.bytes for row in here), key=lambda known: max(known / size, size / known))
        best = max((row for row in here if row.bytes == near), key=lambda row: row.gb_per_s)
        return best.streaming

    def triad(self, size: int) -> Side:
        """Make the side of a triad that moves as many bytes as a case does."""
        run = native.bandwidth_pass()
        streaming, huge = int(self.streams(size)), int(self.huge_pages)

        def side(calls: int) -> float:
            seconds = run(KINDS["triad"], streaming, huge, size, self.threads, calls)
            if seconds < 0:
                raise MemoryError(f"no room for a triad on {size} bytes")
            return seconds

        return side

    def as_json(self) -> list[dict[str, Any]]:
        """Give the rows as JSON has them."""
        return [asdict(row) for row in self.rows]


def measure(
    threads: int, sizes: tuple[int, ...], huge_pages: bool, step: Callable[[], None]
) -> Ceilings:
    """Measure all loops, with both kinds of stores, on the pages that the cases use."""
    rows = []
    for size in sizes:
        for kind, streaming in loops():
            speed = _bandwidth(kind, size, streaming, huge_pages, threads)
            rows.append(Ceiling(kind, size, streaming, huge_pages, threads, speed))
            step()
    return Ceilings(tuple(rows), threads, huge_pages)


def copy_bandwidth(size: int, threads: int) -> float:
    """Measure copies that move ``size`` bytes, in GB/s, with the faster kind of stores."""
    return max(
        _bandwidth(kind, size, streaming, False, threads)
        for kind, streaming in loops()
        if kind == "copy"
    )


def loops() -> list[tuple[str, bool]]:
    """Name the loops that are measured at each size, and whether their stores are streaming."""
    both = [(kind, streaming) for kind in KINDS for streaming in (False, True)]
    return [
        (kind, streaming)
        for kind, streaming in both
        if not streaming or (kind != "read" and native.has_streaming())
    ]


def _bandwidth(kind: str, size: int, streaming: bool, huge: bool, threads: int) -> float:
    run = native.bandwidth_pass()
    repeats = max(1, _MOVED // size)
    rounds = [
        run(KINDS[kind], int(streaming), int(huge), size, threads, repeats) for _ in range(_ROUNDS)
    ]
    return size * repeats / statistics.median(rounds) / 1e9
