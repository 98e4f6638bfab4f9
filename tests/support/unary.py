# SPDX-License-Identifier: Apache-2.0
"""The operators of one tensor and numbers, which the tests find in the descriptions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softnpu.codegen.build import read
from softnpu.judging.dtypes import NUMPY
from tests.support.paths import ROOT

# These have tests of their own, for what others do not have.
BY_HAND = ("elu", "selu")


@dataclass(frozen=True)
class Unary:
    """An elementwise operator of one tensor; its numbers have defaults."""

    name: str
    types: tuple[str, ...]
    in_place: bool

    @property
    def dtypes(self) -> list[np.dtype]:  # type: ignore[type-arg]
        """The documented data types."""
        return [np.dtype(NUMPY[name]) for name in self.types]


def unary_operators() -> list[Unary]:
    """All but those that have tests by hand."""
    found = [
        Unary(o.family, o.tensors[0].types, bool(o.table.get("in_place")))
        for o in read(ROOT / "operators")
        if not o.in_place_of and o.is_elementwise and len(o.tensors) == 2
    ]
    return [each for each in found if each.name not in BY_HAND]
