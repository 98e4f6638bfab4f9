# SPDX-License-Identifier: Apache-2.0
"""Made-up results, for what reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from softnpu.bench.results import Results, Row
from softnpu.bench.runner import Timing


def timing(seconds: float, noise: float = 1.0) -> Timing:
    """A side that took so long, in two runs that differ by so much."""
    halves = (seconds, seconds * noise)
    return Timing(seconds, 0.9 * seconds, 1.1 * seconds, halves, rounds=8, calls=3)


def row(name: str, ours: float, peer: float | None = None, **fields: Any) -> Row:
    """A case of selu with the layout's name, 1000 elements."""
    noise = fields.pop("noise", 1.0)
    known: dict[str, Any] = {
        "id": f"selu_backward/float32/{name}/1K",
        "group": "elu, selu strided",
        "operator": "selu_backward",
        "variant": "",
        "dtype": "float32",
        "layout": name,
        "size": "1K",
        "elements": 1000,
        "bytes": 12000,
        "softnpu": timing(ours, noise),
        "peer": None if peer is None else timing(peer),
    }
    return Row(**{**known, **fields})


@pytest.fixture
def make_row() -> Callable[..., Row]:
    """Makes rows."""
    return row


@pytest.fixture
def make_timing() -> Callable[..., Timing]:
    """Makes timings."""
    return timing


@pytest.fixture
def make_results() -> Callable[..., Results]:
    """Makes results that hold the given rows."""

    def make(*rows: Row) -> Results:
        ceilings = [
            {
                "kind": "triad",
                "bytes": 1 << 20,
                "streaming": False,
                "huge_pages": False,
                "threads": 2,
                "gb_per_s": 100.0,
            }
        ]
        settings = {"against": "torch", "threads": 2, "quick": False}
        versions = {"softnpu": "0", "python": "3"}
        return Results({"cpu": "a CPU"}, versions, settings, ceilings, list(rows), None, [])

    return make
