# SPDX-License-Identifier: Apache-2.0
"""Operators of one tensor and numbers against their float64 definitions.

Range of the accuracy table: "every pattern" takes inputs from the whole type, float32's in steps.
"""

from __future__ import annotations

import numpy as np
import pytest

import softnpu
from softnpu import reference
from softnpu.judging.accuracy import every_row
from softnpu.judging.ulp import same_bits
from tests.support import accuracy
from tests.support import specials as sp
from tests.support.layouts import LAYOUTS, Layout, place
from tests.support.unary import Unary, unary_operators

NAMES = [one.name for one in unary_operators()]
NUMBERS = [(), (0.25,), (-1.5,), (0.0,), (np.inf,), (np.nan,)]


@pytest.mark.parametrize("row", [r for r in every_row() if r.operator in NAMES], ids=str)
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    if row.dtype.itemsize == 2:
        x = sp.every_bit_pattern(row.dtype)
    else:
        x = np.arange(0, 1 << 32, 2039, np.uint64).astype(np.uint32).view(np.float32)
    for numbers in NUMBERS:
        for values in (x, sp.specials(row.dtype)):
            got = getattr(softnpu, row.operator)(values, *numbers)
            exact = getattr(reference, row.operator)(values, *numbers)
            accuracy.check(row, got, exact, values, context=numbers)


@pytest.mark.parametrize("one", unary_operators(), ids=lambda one: one.name)
def test_every_data_type_has_a_row(one: Unary) -> None:
    """Law: nothing is computed that the table says nothing of."""
    rows = {row.dtype_name for row in every_row() if row.operator == one.name}
    assert rows == {dtype.name for dtype in one.dtypes}


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("one", [o for o in unary_operators() if o.in_place], ids=lambda o: o.name)
def test_in_place_writes_what_the_operator_computes(one: Unary, layout: Layout) -> None:
    """Law: the same bits in any layout; it returns its argument, and writes nothing else."""
    for dtype in one.dtypes:
        x = sp.random_values(np.random.default_rng(52), (3, 5, 7), dtype)
        placed = place(x, layout)
        expected = getattr(softnpu, one.name)(x)
        assert getattr(softnpu, f"{one.name}_")(placed.view) is placed.view
        assert same_bits(placed.view, expected)
        assert placed.surroundings_unchanged()
