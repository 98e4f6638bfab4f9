# SPDX-License-Identifier: Apache-2.0
"""Running sums, sorts, and operators whose output has a size that depends on the elements."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from softnpu import aclnn
from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import I64, TYPES, data, equal, is_whole, layouts, like, wide
from tests.support.described import TYPES as CODES
from tests.support.described import call

SHAPE = (3, 4, 5)
every_type = pytest.mark.parametrize("dtype", TYPES, ids=str)
every_dim = pytest.mark.parametrize("dim", [0, 1, -1])


@every_type
@every_dim
def test_cumsum(dtype: Any, dim: int) -> None:
    """Sums in each layout, in place too."""
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        out = like(I64 if is_whole(dtype) else dtype, SHAPE, layout)
        call("Cumsum", x, dim, CODES[out.dtype.name], out)
        equal(out, wide(x).cumsum(axis=dim))
    in_place = layouts("f4", SHAPE)[1]
    wanted = wide(in_place).cumsum(axis=dim)
    call("Cumsum", in_place, dim, aclnn.ACL_FLOAT, in_place)
    equal(in_place, wanted)


def test_none_of_one() -> None:
    """Without its element, a tensor of rank 0 has rank 1."""
    one, none = np.zeros((), "f4"), np.zeros(0, "f4")
    call("Topk", one, 0, 0, True, True, none, np.zeros(0, "i8"))
    with pytest.raises(ParamInvalidError, match=r"values has shape \[\]; expected \[0\]"):
        call("Topk", one, 0, 0, True, True, one.copy(), np.zeros((), "i8"))


@every_type
@every_dim
def test_running_products_and_extremes(dtype: Any, dim: int) -> None:
    """Of equal elements, the last is the position."""
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        out = like(I64 if is_whole(dtype) else np.dtype("f8"), SHAPE, layout)
        call("Cumprod", x, dim, CODES[out.dtype.name], out)
        equal(out, wide(x).cumprod(axis=dim))
        for name, best in (("Cummax", np.maximum), ("Cummin", np.minimum)):
            values, indices = like(dtype, SHAPE, layout), like(I64, SHAPE, 2 - layout)
            call(name, x, dim, values, indices)
            wanted = best.accumulate(wide(x), axis=dim)
            equal(values, wanted)
            count = np.arange(SHAPE[dim]).reshape([-1 if d == dim % 3 else 1 for d in range(3)])
            at = np.where(wide(x) == wanted, count, 0)
            equal(indices, np.maximum.accumulate(at, axis=dim))
    x = np.float32([1, np.nan, 3, np.nan, 0])
    values, indices = np.zeros(5, "f4"), np.zeros(5, "i8")
    call("Cummax", x, 0, values, indices)
    equal(values, [1, *[np.nan] * 4])
    equal(indices, [0, 1, 1, 3, 3])


@every_type
def test_search(dtype: Any) -> None:
    """In one row, in a row for each, and in rows that are sorted by an index."""
    rows, x = data(dtype, (3, 8), 1), data(dtype, (3, 5), 2)
    order = np.argsort(rows, axis=1, kind="stable")
    ascending = np.take_along_axis(rows, order, 1)
    for right, index_type in itertools.product((False, True), ("i8", "i4")):
        side: Any = "right" if right else "left"
        wanted = [
            np.searchsorted(wide(a), wide(b), side) for a, b in zip(ascending, x, strict=True)
        ]
        for given, sorter in ((ascending, None), (rows, order)):
            out = np.zeros((3, 5), index_type)
            call("SearchSorted", given, x, index_type == "i4", right, sorter, out)
            equal(out, wanted)
        call("SearchSorted", ascending[1], x, index_type == "i4", right, None, out)
        equal(out, np.searchsorted(wide(ascending[1]), wide(x), side))


def positions(x: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """Sort stably; NaN is the largest number."""
    key = np.where(np.isnan(x), np.inf, x) if x.dtype.kind == "f" else x
    key = np.stack([key, np.isnan(x)]) if x.dtype.kind == "f" else key[None]
    return np.lexsort(-1 * key if descending else key, axis=dim)


@every_type
@every_dim
@pytest.mark.parametrize("descending", [False, True])
def test_sorts(dtype: Any, dim: int, descending: bool) -> None:
    """Equal elements stay in order, whether the caller asks for that or not."""
    for layout, stable in itertools.product(range(3), (False, True)):
        x = layouts(dtype, SHAPE)[layout]
        wanted = positions(wide(x), dim, descending)
        values, indices = like(dtype, SHAPE, layout), like(I64, SHAPE, 2 - layout)
        call("Sort", x, stable, dim, descending, values, indices)
        equal(indices, wanted)
        equal(values, np.take_along_axis(wide(x), wanted, dim))
        indices[...] = 7
        call("Argsort", x, dim, descending, indices)
        equal(indices, wanted)


@every_type
@every_dim
def test_topk_and_kthvalue(dtype: Any, dim: int) -> None:
    """They are elements of the sorted tensor."""
    x = layouts(dtype, SHAPE)[1]
    for largest, k in itertools.product((False, True), (0, 1, 2, 3)):
        wanted = np.take(positions(wide(x), dim, largest), range(k), dim)
        values, indices = like(dtype, wanted.shape, 1), like(I64, wanted.shape, 2)
        call("Topk", x, k, dim, largest, True, values, indices)
        equal(indices, wanted)
        equal(values, np.take_along_axis(wide(x), wanted, dim))
        if largest or k == 0:
            continue
        kth = np.take(wanted, [k - 1], dim)
        for keep in (False, True):
            shape = kth.shape if keep else kth.squeeze(dim).shape
            values, indices = like(dtype, shape, 1), like(I64, shape, 2)
            call("Kthvalue", x, k, dim, keep, values, indices)
            equal(indices, kth.reshape(shape))
            equal(values, np.take_along_axis(wide(x), kth, dim).reshape(shape))


def test_order_of_special_numbers() -> None:
    """NaN is the largest number; zeros are equal."""
    x = np.float32([np.nan, 1, np.inf, -np.inf, np.nan, 0, -0.0])
    values, indices = np.zeros_like(x), np.zeros(7, "i8")
    call("Sort", x, True, 0, False, values, indices)
    equal(indices, [3, 5, 6, 1, 2, 0, 4])
    call("Sort", x, True, 0, True, values, indices)
    equal(indices, [0, 4, 2, 1, 5, 6, 3])


def test_rank_0() -> None:
    """A tensor of rank 0 is its own order."""
    x, values, indices = np.array(3, "f4"), np.zeros((), "f4"), np.ones((), "i8")
    call("Sort", x, False, -1, True, values, indices)
    assert (values, indices) == (3, 0)
    values[...] = 0
    call("Topk", x, 1, 0, True, True, values, indices)
    assert values == 3
    call("Kthvalue", x, 1, 0, False, values, indices)
    call("Cumsum", x, 0, aclnn.ACL_FLOAT, values)
    assert values == 3


@every_type
def test_unique(dtype: Any) -> None:
    """Outputs get the number of different elements as their size; parts may be left out."""
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        values, inverse, counts = np.unique(wide(x), return_inverse=True, return_counts=True)
        out, places, numbers = np.zeros(60, dtype), like(I64, SHAPE, layout), np.zeros(60, "i8")
        device = call("Unique2", x, True, True, True, out, places, numbers)
        size = len(values)
        assert device.shape_of(out) == [size]
        equal(out[:size], values)
        equal(places, inverse.reshape(SHAPE))
        equal(numbers[:size], counts)
        places[...] = 0
        device = call("Unique", x, True, True, one := np.zeros(60, dtype), places)
        assert device.shape_of(one) == [size]
        equal(one[:size], values)
        equal(places, inverse.reshape(SHAPE))
        nothing = np.zeros(0, "i8")
        exact = np.zeros(size, dtype)
        call("Unique2", x, False, False, False, exact, nothing, nothing)
        equal(exact, values)


@every_type
def test_masked_select_and_nonzero(dtype: Any) -> None:
    """Outputs get the number of selected elements as their size."""
    mask = data("?", (4, 1), 3)
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        wanted = wide(x)[np.broadcast_to(mask, SHAPE)]
        out = np.zeros(60, dtype)
        device = call("MaskedSelect", x, mask, out)
        assert device.shape_of(out) == [len(wanted)]
        equal(out[: len(wanted)], wanted)
        found = np.argwhere(x)
        where = np.zeros((60, 3), "i8")
        device = call("Nonzero", x, where)
        assert device.shape_of(where) == list(found.shape)
        equal(where.reshape(-1)[: found.size], found.reshape(-1))
        exact = np.zeros(found.shape, "i4")
        call("Nonzero", x, exact)
        equal(exact, found)


def test_no_elements() -> None:
    """Outputs get the size 0."""
    empty = np.zeros((0, 3), "f4")
    device = call("Nonzero", empty, out := np.zeros((0, 2), "i8"))
    assert device.shape_of(out) == [0, 2]
    device = call("MaskedSelect", empty, data("?", (3,)), out := np.zeros(5, "f4"))
    assert device.shape_of(out) == [0]
    call("Sort", empty, True, 0, False, np.zeros((0, 3), "f4"), np.zeros((0, 3), "i8"))
    device = call(
        "Unique2", empty, True, True, True, out, np.zeros((0, 3), "i8"), np.zeros(0, "i8")
    )
    assert device.shape_of(out) == [0]


def test_outputs_without_room() -> None:
    """The launch fails, and nothing is written."""
    x, out = np.float32([1, 2, 3]), np.zeros(2, "f4")
    with pytest.raises(RuntimeError, match="out has room for 2; the result has 3"):
        call("MaskedSelect", x, np.ones(3, "?"), out)
    equal(out, [0, 0])
    with pytest.raises(RuntimeError, match="out has room for 2; the result has 3"):
        call("Nonzero", x, np.zeros((2, 1), "i8"))
    with pytest.raises(RuntimeError, match="valueOut has room for 2"):
        call("Unique2", x, True, False, False, out, np.zeros(0, "i8"), np.zeros(0, "i8"))


def test_mistakes() -> None:
    """Each is reported with what was given and what was expected."""
    x, f4, i8 = np.zeros((2, 3), "f4"), np.zeros((2, 3), "f4"), np.zeros((2, 3), "i8")
    with pytest.raises(ParamInvalidError, match="dim is 2; expected -2 to 1"):
        call("Sort", x, True, 2, False, f4, i8)
    with pytest.raises(ParamInvalidError, match="dim is -3; expected -2 to 1"):
        call("Cumprod", x, -3, aclnn.ACL_FLOAT, f4)
    with pytest.raises(ParamInvalidError, match="indices has shape"):
        call("Cummin", x, 0, f4, np.zeros(2, "i8"))
    with pytest.raises(ParamInvalidError, match="expected rank 1, or equal sizes"):
        call("SearchSorted", np.zeros((3, 3), "f4"), x, False, False, None, i8)
    with pytest.raises(RuntimeError, match=r"sorter\[2\] is 3"):
        call("SearchSorted", f4[0], x, False, False, np.array([0, 1, 3]), i8)
    with pytest.raises(ParamInvalidError, match="values has shape"):
        call("Sort", x, True, 1, False, np.zeros((3, 2), "f4"), i8)
    with pytest.raises(ParamInvalidError, match="k is 4; expected 0 to 3, the size of dim 1"):
        call("Topk", x, 4, 1, True, True, f4, i8)
    with pytest.raises(ParamInvalidError, match="k is 0; expected 1 to 3"):
        call("Kthvalue", x, 0, 1, True, f4, i8)
    with pytest.raises(ParamInvalidError, match="expected BOOL or an integer type"):
        call("MaskedSelect", x, f4, np.zeros(6, "f4"))
    with pytest.raises(ParamInvalidError, match="cannot be broadcast"):
        call("MaskedSelect", x, np.zeros(2, "?"), np.zeros(6, "f4"))
    with pytest.raises(ParamInvalidError, match="expected a contiguous tensor"):
        call("MaskedSelect", x, np.zeros(3, "?"), np.zeros(12, "f4")[::2])
    with pytest.raises(ParamInvalidError, match=r"out has shape \[6, 3\]; expected \[6, 2\]"):
        call("Nonzero", x, np.zeros((6, 3), "i8"))
