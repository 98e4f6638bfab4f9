# SPDX-License-Identifier: Apache-2.0
"""The table of cases: one list for the runner, the report, the pictures and the tests."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from softnpu.bench.cases import (
    calls,
    elementwise,
    forward,
    gather,
    loss,
    scatter,
    upsample,
    upsample_forward,
)
from softnpu.bench.cases.case import CLASSES, SIZES, Case, Prepared
from softnpu.bench.cases.quick import QUICK

__all__ = ["CLASSES", "QUICK", "SIZES", "Case", "Prepared", "quick", "select", "table"]


def table() -> list[Case]:
    """All cases, class by class."""
    rooms = (elementwise, loss, upsample, upsample_forward, gather, scatter, forward, calls)
    found = [case for room in rooms for case in room.cases()]
    return sorted(found, key=lambda case: CLASSES.index(case.group))


def quick(cases: Iterable[Case]) -> list[Case]:
    """Keep the cases of the quick set."""
    return [case for case in cases if case.id in QUICK]


def select(cases: Iterable[Case], filters: Iterable[str]) -> list[Case]:
    """Keep the cases whose id or class contains, or as a glob matches, one of the filters."""
    wanted = list(filters)
    return [case for case in cases if not wanted or any(_matches(case, one) for one in wanted)]


def _matches(case: Case, pattern: str) -> bool:
    if any(sign in pattern for sign in "*?["):
        return fnmatch.fnmatchcase(case.id, pattern) or fnmatch.fnmatchcase(case.group, pattern)
    return pattern in case.id or pattern in case.group
