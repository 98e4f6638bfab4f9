# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators against their float64 definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import distance, same_bits
from tests.numerics.elementwise import BY_NAME, FORMULAS, Array, Formula
from tests.support import accuracy
from tests.support import specials as sp
from tests.support.layouts import LAYOUTS, Layout, place

BY_DTYPE = {"ids": lambda d: d.name}
CASTS = [(formula, each) for formula in FORMULAS for each in formula.casts]


def cut(inputs: list[Array]) -> Iterator[list[Array]]:
    """Cut inputs into arrays of up to 100 finite tuples, so that there are many sums."""
    finite = np.logical_and.reduce([np.isfinite(each.astype(np.float32)) for each in inputs])
    for at in range(0, min(int(finite.sum()), 10_000), 100):
        yield [each[finite][at : at + 100] for each in inputs]


@pytest.mark.parametrize("row", [row for name in BY_NAME for row in accuracy.rows(name)])
def test_accuracy_is_as_tabled(row: accuracy.Row) -> None:
    """Law: every row of the accuracy table holds, down to NaN, infinities and the sign of zeros."""
    formula = BY_NAME[row.operator]
    *more, name = row.range.split(", ")
    for inputs, own in formula.ranges[name](np.random.default_rng(50), row.dtype):
        batches: Any = [inputs]
        if row.operator == "smooth_l1_loss" and more != ["none"]:
            batches = cut(inputs)
        for batch in batches:
            if row.operator == "smooth_l1_loss_backward" and more == ["mean"]:
                batch[0] = batch[0][:1]
            got = formula.on(softnpu, batch, (*more, *own))
            exact = formula.on(reference, batch, (*more, *own))
            accuracy.check(row, got, exact, *batch, context=(*more, *own))
    accuracy.check_share(row)


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda f: f.name)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_float32(formula: Formula, data: st.DataObject) -> None:
    """Law: no float32 inputs and no numbers, scalars up to 1e10, are more than 2 ULP off.

    At most two roundings happen, and the second one's units may be half of the first one's: up to
    1.5 of them, and half of one that the reference is rounded by.
    """
    drawn = data.draw(st.tuples(*[st.floats(width=32)] * formula.inputs))
    inputs, numbers = [np.array([x], np.float32) for x in drawn], data.draw(formula.settings)
    got, exact = (formula.on(module, inputs, numbers) for module in (softnpu, reference))
    assert distance(got, exact, zero_sign=True).max() <= 2


@pytest.mark.parametrize("dtype", sp.FLOATING, **BY_DTYPE)
@pytest.mark.parametrize("scalars", [(1.0, 1.0, -1.0), (0.0, 1.0, -1.0), (1e-30, 1e-30, -1e-30)])
def test_the_largest_exponentials(dtype: Any, scalars: tuple[float, float, float]) -> None:
    """Law: a factor of 0 makes 0 of every exponential that float64 holds, and NaN of infinity."""
    exponent = np.float64([700, 709, 709.4, 709.5, 709.7, 709.78, 709.79, 710, 711, np.inf])
    x = (np.concatenate([exponent, np.linspace(709.4, 709.8, 1000)]) / scalars[2]).astype("f4")
    got, exact = softnpu.elu(x, *scalars), reference.elu(x, *scalars)
    assert distance(got, exact, zero_sign=True).max() == 0
    g, x = sp.all_pairs(np.array([0, -0.0, 1e-45, 1], np.float32).astype(dtype), x.astype(dtype))
    got = softnpu.elu_backward(g, *scalars, False, x)
    exact = reference.elu_backward(g, *scalars, False, x)
    assert distance(got, exact, zero_sign=True).max() == 0


@pytest.mark.parametrize("target", sp.FLOATING, **BY_DTYPE)
@pytest.mark.parametrize("dtype", sp.FLOATING, **BY_DTYPE)
@pytest.mark.parametrize(("formula", "numbers"), CASTS, ids=lambda v: getattr(v, "name", str(v)))
def test_casts_round_the_float32_result_once(
    formula: Formula, numbers: Any, dtype: np.dtype[Any], target: np.dtype[Any]
) -> None:
    """Law: an output of another floating type holds the float32 result, rounded once to it."""
    inputs = [*sp.random_values(np.random.default_rng(53), (formula.inputs, 50_000), dtype)]
    wide = np.empty(() if "mean" in numbers else 50_000, np.float32)
    formula.on(softnpu, inputs, numbers, out=wide)
    got = formula.on(softnpu, inputs, numbers, out=np.empty(wide.shape, target))
    assert same_bits(got, reference.round_to(wide.astype(np.float64), target))


@pytest.mark.parametrize("target", sp.FLOATING, **BY_DTYPE)
@pytest.mark.parametrize("dtype", sp.FLOATING, **BY_DTYPE)
def test_casts_of_the_exp_branch(dtype: np.dtype[Any], target: np.dtype[Any]) -> None:
    """Law: the same with exp, but for one in 10,000 16-bit results, which is the one beside it."""
    rng = np.random.default_rng(22)
    g = sp.random_values(rng, (100_000,), dtype)
    x = (-8 * rng.random(100_000)).astype(dtype)
    wide = softnpu.elu_backward(g, 1.5, 0.7, 1.0, False, x, out=np.empty(g.shape, np.float32))
    got = softnpu.elu_backward(g, 1.5, 0.7, 1.0, False, x, out=np.empty(g.shape, target))
    rounded = reference.round_to(wide.astype(np.float64), target)
    apart = distance(got, rounded.astype(np.float64), zero_sign=True)
    assert apart.max() <= (sp.FLOAT32 not in (dtype, target))
    assert (apart > 0).mean() < 1e-4


@pytest.mark.parametrize("kind", [np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("dtype", sp.FLOATING, **BY_DTYPE)
@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("elu", (1.5, 0.7, 1.3)),
        ("elu_backward", (True, 1.5, 0.7, 1.3)),
        ("elu_backward", (False, 1.5, 0.7, 1.3)),
    ],
)
def test_wider_outputs_hold_the_float32_result(
    name: str, numbers: Any, dtype: np.dtype[Any], kind: type[Any]
) -> None:
    """Law: DOUBLE and complex outputs hold the float32 result exactly, imaginary part +0."""
    formula = BY_NAME[name]
    inputs = sp.all_pairs(*[sp.specials(dtype)] * formula.inputs)
    shape = inputs[0].shape
    narrow = formula.on(softnpu, inputs, numbers, out=np.empty(shape, np.float32))
    exact = formula.on(reference, inputs, numbers)
    assert distance(narrow, exact, zero_sign=True).max() <= 2
    got = formula.on(softnpu, inputs, numbers, out=np.empty(shape, kind))
    assert distance(got.real, narrow.astype(np.float64), zero_sign=True).max() == 0
    assert same_bits(got.imag.copy(), np.zeros_like(got.real))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("name", [name for name in BY_NAME if hasattr(softnpu, f"{name}_")])
def test_in_place_writes_what_the_operator_computes(name: str, layout: Layout) -> None:
    """Law: the same bits in any layout; it returns its argument, and writes nothing else."""
    for dtype in {row.values[0].dtype for row in accuracy.rows(name)}:
        x = sp.random_values(np.random.default_rng(52), (3, 5, 7), dtype)
        placed = place(x, layout)
        assert getattr(softnpu, f"{name}_")(placed.view) is placed.view
        assert same_bits(placed.view, getattr(softnpu, name)(x))
        assert placed.surroundings_unchanged()
