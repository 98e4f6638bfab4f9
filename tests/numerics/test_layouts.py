# SPDX-License-Identifier: Apache-2.0
"""No memory layout of an input or an output changes a bit, and nothing else is touched."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import same_bits
from tests.support import laws
from tests.support import specials as sp
from tests.support.cases import Case, cases
from tests.support.layouts import Layout, any_layout, any_shape, place, place_output

SMALL, LARGE = cases("small"), cases("large")


@pytest.mark.parametrize("case", SMALL, ids=lambda c: c.name)
def test_every_operator_keeps_the_laws(case: Case) -> None:
    """Law: layouts, broadcasts, threads, what out held change nothing; inputs keep their bits."""
    laws.check_laws(case.call, case.inputs, strided_output=case.strided_output)


@pytest.mark.parametrize("case", LARGE, ids=lambda c: c.name)
def test_large_arrays_keep_the_laws_too(case: Case) -> None:
    """Law: the same for sizes that take other paths: tiles, transposes, several threads."""
    chosen = [
        Layout("transposed", order="F"),
        Layout("channels-last", order="last", offset=1),
        Layout("every second, reversed", steps=(1, 1, -2)),
    ]
    laws.input_layouts_do_not_matter(case.call, case.inputs, chosen)
    if case.strided_output:
        laws.output_is_written_fully_and_nothing_else(case.call, case.inputs, chosen)


@settings(max_examples=150, deadline=None)
@given(
    shape=any_shape(),
    layouts=st.tuples(any_layout(), any_layout(), any_layout()),
    kind=st.sampled_from(sp.FLOATING),
    seed=st.integers(0, 2**32),
)
def test_any_shape_in_any_layout(
    shape: tuple[int, ...], layouts: tuple[Layout, Layout, Layout], kind: np.dtype, seed: int
) -> None:
    """Law: rank 0 to 8, empty or not, any order of axes, steps, offsets: the same bits."""
    rng = np.random.default_rng(seed)
    values = [sp.random_bits(rng, shape, kind) for _ in range(2)]
    expected = softnpu.elu_backward(values[0], 1.5, 0.5, 2.0, True, values[1])
    assert expected.shape == shape
    placed = [place(v, layout) for v, layout in zip(values, layouts, strict=False)]
    out = place_output(shape, kind, layouts[2])
    g, x = (p.view for p in placed)
    assert softnpu.elu_backward(g, 1.5, 0.5, 2.0, True, x, out=out.view) is out.view
    assert same_bits(out.view, expected)
    assert out.surroundings_unchanged()
    assert all(p.buffer_unchanged() for p in placed)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), shape=any_shape(6, 2000), seed=st.integers(0, 2**32))
def test_any_shapes_that_broadcast(data: st.DataObject, shape: tuple[int, ...], seed: int) -> None:
    """Law: inputs of fewer or shorter axes give the bits of their full-size copies."""
    rng = np.random.default_rng(seed)
    arrays = []
    for _ in range(3):
        short = [1 if data.draw(st.booleans()) else size for size in shape]
        short = short[data.draw(st.integers(0, len(shape))) :]
        values = sp.random_values(rng, tuple(short), sp.FLOAT32)
        arrays.append(place(values, data.draw(any_layout())).view)
    whole = np.broadcast_shapes(*(array.shape for array in arrays))
    g, a, b = arrays
    copies = [np.broadcast_to(array, whole).copy() for array in arrays]
    for reduction in ("none", "sum"):
        got = softnpu.smooth_l1_loss_backward(g, a, b, reduction, 0.5)
        expected = softnpu.smooth_l1_loss_backward(copies[0], copies[1], copies[2], reduction, 0.5)
        assert same_bits(got, expected)


@pytest.mark.parametrize("kind", sp.FLOATING, ids=str)
@pytest.mark.parametrize(
    "shape",
    [(3, 29, 17), (2, 70, 41), (90, 257), (3, 9, 1000), (17, 5, 2, 64), (30000, 259)],
    ids=str,
)
def test_rows_that_are_repeated(shape: tuple[int, ...], kind: np.dtype) -> None:
    """Law: a row for all rows, or a number for each, gives the bits of its full-size copy."""
    rng = np.random.default_rng(len(shape))
    full = [sp.random_values(rng, shape, kind) for _ in range(3)]
    row, column = full[1][:1, ..., :], full[2][..., :1]
    middle, number = full[0][:, :1], full[0][:1, ..., :1]
    for g, a, b in (
        (full[0], full[1], row),
        (column, full[0], full[1]),
        (full[0], column, row),
        (number, row, full[2]),
        (full[1], middle, column),
    ):
        copies = [np.broadcast_to(array, shape).copy() for array in (g, a, b)]
        expected = softnpu.smooth_l1_loss_backward(copies[0], copies[1], copies[2], "none", 0.5)
        assert same_bits(softnpu.smooth_l1_loss_backward(g, a, b, "none", 0.5), expected)


@pytest.mark.parametrize("step", [2, 3, 5, -2, -7])
@pytest.mark.parametrize("size", [1, 7, 8, 17, 63, 64, 65, 71, 130, 1100])
def test_elements_that_are_apart(size: int, step: int) -> None:
    """Law: rows of every length with gaps between elements give the bits of dense ones."""
    rng = np.random.default_rng(size)
    spaced = Layout("spaced", steps=(1, step), offset=1)
    shape = (3, size)

    def check(call: Callable[..., Any], *inputs: npt.NDArray[Any], out: npt.DTypeLike) -> None:
        expected = np.empty(shape, out)
        call(*inputs, out=expected)
        placed = [place(values, spaced) for values in inputs]
        for given_inputs in (inputs, tuple(p.view for p in placed)):
            result = place_output(shape, out, spaced)
            call(*given_inputs, out=result.view)
            assert same_bits(result.view, expected)
            assert result.surroundings_unchanged()
        dense = np.empty(shape, out)
        call(*(p.view for p in placed), out=dense)
        assert same_bits(dense, expected)

    def elu(g: npt.NDArray[Any], x: npt.NDArray[Any], *, out: npt.NDArray[Any]) -> None:
        softnpu.elu_backward(g, 1.5, 0.5, 2.0, False, x, out=out)

    for integer in (np.int8, np.int32):
        info = np.iinfo(integer)
        whole = rng.integers(info.min, info.max, (2, *shape), integer, endpoint=True)
        check(softnpu.selu_backward, whole[0], whole[1], out=integer)
    for kind in sp.FLOATING:
        g, x = (sp.random_bits(rng, shape, kind) for _ in range(2))
        for out in (*sp.FLOATING, sp.FLOAT64, np.complex64):
            check(elu, g, x, out=out)


@pytest.mark.parametrize("kind", sp.FLOATING, ids=str)
@pytest.mark.parametrize(
    "shape",
    [
        (1287, 3),
        (40, 7, 5, 2),
        (3, 2, 3, 2, 3, 2, 2, 3),
        (26, 24, 9, 8, 4),
        (9, 150, 24),
        (700, 11),
    ],
    ids=str,
)
def test_short_rows(shape: tuple[int, ...], kind: np.dtype) -> None:
    """Law: rows of a few elements, with gaps, repeated, turned, give the bits of dense ones."""
    rng = np.random.default_rng(len(shape))

    def gaps(size: int) -> Layout:
        return Layout("gaps", pads=(*[0] * (len(shape) - 1), size))

    full = [sp.random_values(rng, shape, kind) for _ in range(3)]
    row = full[1][:1, ..., :]
    turned = np.asfortranarray(full[2])
    every_second = np.repeat(full[0], 2, axis=-1)[..., ::2]
    for g, a, b in (
        (place(full[0], gaps(3)).view, full[1], full[2]),
        (full[0], place(full[1], gaps(1)).view, turned),
        (every_second, row, place(full[2], gaps(2)).view),
        (turned, np.asfortranarray(full[0]), full[1][::-1, ..., ::-1]),
    ):
        copies = [np.ascontiguousarray(np.broadcast_to(array, shape)) for array in (g, a, b)]
        expected = softnpu.smooth_l1_loss_backward(*copies, "none", 0.5)
        assert same_bits(softnpu.smooth_l1_loss_backward(g, a, b, "none", 0.5), expected)
        out = place_output(shape, kind, gaps(5))
        softnpu.smooth_l1_loss_backward(g, a, b, "none", 0.5, out=out.view)
        assert same_bits(out.view.copy(), expected)
        exp = softnpu.elu_backward(copies[0], 1.5, 0.5, 2.0, False, copies[1])
        softnpu.elu_backward(g, 1.5, 0.5, 2.0, False, copies[1], out=out.view)
        assert same_bits(out.view.copy(), exp)
        assert out.surroundings_unchanged()


@pytest.mark.parametrize("target", sp.FLOATING, ids=str)
@pytest.mark.parametrize("size", [1, 15, 63, 64, 65, 1000, 5003], ids=str)
def test_rows_of_mixed_types(size: int, target: np.dtype) -> None:
    """Law: inputs of any types give the bits of their FLOAT copies, rounded once to the output."""
    rng = np.random.default_rng(size)
    for kinds in itertools.product(sp.FLOATING, repeat=3):
        given = [sp.random_values(rng, (3, size + 5), kind)[:, 5:] for kind in kinds]
        given[size % 3] = given[size % 3][:1] if size % 2 else given[size % 3][:, :1]
        g, a, b = (array.astype(np.float32) for array in given)
        expected = softnpu.smooth_l1_loss_backward(g, a, b, "none", 0.5)
        out = np.empty((3, size), target)
        g, a, b = given
        assert softnpu.smooth_l1_loss_backward(g, a, b, "none", 0.5, out=out) is out
        assert same_bits(out, reference.round_to(expected.astype(np.float64), target)), kinds


def test_large_rows_of_mixed_types() -> None:
    """Law: the same for arrays that are written past the caches, wherever they begin."""
    rng = np.random.default_rng(5)
    g, x = (sp.random_values(rng, (6_000_001,), sp.FLOAT32) for _ in range(2))
    f16, bf16 = sp.FLOAT16, sp.BFLOAT16
    for kind, target in ((f16, np.float32), (bf16, np.float64), (np.float32, f16), (bf16, f16)):
        a, b = g.astype(kind)[1:], x.astype(kind)[1:]
        for is_result in (True, False):
            wide = softnpu.elu_backward(
                a.astype(np.float32), 1.0, 1.0, 1.0, is_result, b.astype(np.float32)
            )
            out = np.empty(6_000_001, target)[1:]
            softnpu.elu_backward(a, 1.0, 1.0, 1.0, is_result, b, out=out)
            assert same_bits(out, reference.round_to(wide.astype(np.float64), np.dtype(target)))


@pytest.mark.parametrize("count", [1, 16, 511, 512, 513, 4097, 40_000])
@pytest.mark.parametrize("kind", [sp.FLOAT32, sp.FLOAT16, sp.BFLOAT16], ids=str)
def test_a_piece_has_the_bits_of_the_whole(kind: np.dtype, count: int) -> None:
    """Law: how many elements there are changes nothing: few may run on other instructions."""
    rng = np.random.default_rng(68)
    whole = [sp.random_bits(rng, (50_000,), kind) for _ in range(3)]
    where = slice(37, 37 + count)
    piece = [array[where].copy() for array in whole]
    for call in (
        lambda g, x, _: softnpu.elu_backward(g, 1.5, 0.5, 2.0, True, x),
        lambda g, x, _: softnpu.elu_backward(g, 1.5, 0.5, 2.0, False, x),
        lambda g, x, _: softnpu.selu_backward(g, x),
        lambda g, x, t: softnpu.smooth_l1_loss_backward(g, x, t, 2, 0.75),
    ):
        assert same_bits(call(*piece), call(*whole)[where])
