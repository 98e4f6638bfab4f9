# SPDX-License-Identifier: Apache-2.0
"""Elements and slices by index, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.everyday.arrays import I64, TYPES, data, equal, is_whole, layouts, like, wide
from tests.support.described import call

SHAPE = (4, 3, 5)
every_type = pytest.mark.parametrize("dtype", TYPES, ids=str)
every_dim = pytest.mark.parametrize("dim", [0, 1, -1])
every_index = pytest.mark.parametrize("index_type", ["i8", "i4", "u1"])


def indices(shape: tuple[int, ...], limit: int, dtype: Any = "i8", seed: int = 5) -> np.ndarray:
    """Make random indices below a limit."""
    return np.random.default_rng(seed).integers(0, limit, shape).astype(dtype)


def place(dim: int, where: Any) -> tuple[Any, ...]:
    """Build the subscript that has `where` in place of one dimension."""
    return (*[slice(None)] * (dim % 3), where)


@every_type
@every_dim
@every_index
def test_taken(dtype: Any, dim: int, index_type: str) -> None:
    """Whole slices and single elements, by each type of index."""
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        index = indices((2, 3), SHAPE[dim], index_type)
        wanted = np.take(wide(x), index, dim)
        call("GatherV2", x, dim, index, out := like(dtype, wanted.shape, layout))
        equal(out, wanted)
        wanted = np.take(wide(x), index[1], dim)
        call("IndexSelect", x, dim, index[1], out := like(dtype, wanted.shape, layout))
        equal(out, wanted)
        shape = [2, 2, 4]
        shape[dim] = 6
        index = indices(tuple(shape), SHAPE[dim], index_type)
        part = wide(x)[tuple(slice(None if d == dim % 3 else n) for d, n in enumerate(shape))]
        call("Gather", x, dim, index, out := like(dtype, tuple(shape), layout))
        from_end = like(dtype, tuple(shape), layout)
        call("Gather", x, dim, index.astype("i8") - SHAPE[dim], from_end)
        equal(from_end, wide(out))
        equal(out, np.take_along_axis(part, index.astype("i8"), dim))


@every_type
@every_index
def test_embedding(dtype: Any, index_type: str) -> None:
    """Rows of the weight, and sums of gradients for each row."""
    weight = layouts(dtype, (6, 4))[1]
    index = indices((2, 3), 6, index_type)
    call("Embedding", weight, index, out := like(dtype, (2, 3, 4), 1))
    equal(out, wide(weight)[index])
    grad = layouts(dtype, (2, 3, 4))[2]
    count = np.bincount(index.ravel(), minlength=6)
    for padding in (-1, int(index[0, 0])):
        sums = np.zeros((6, 4), wide(grad).dtype)
        np.add.at(sums, index, wide(grad))
        sums[padding if padding >= 0 else slice(0)] = 0
        out_type = I64 if is_whole(dtype) else dtype
        call(
            "EmbeddingDenseBackward",
            grad,
            index,
            6,
            padding,
            False,
            out := np.ones((6, 4), out_type),
        )
        equal(out, sums)
        call("EmbeddingDenseBackward", grad, index, 6, padding, True, out := np.ones((6, 4), "f8"))
        equal(out, sums / np.maximum(count, 1)[:, None])


@every_type
@every_dim
@pytest.mark.parametrize("reduce", [0, 1, 2])
def test_scatter(dtype: Any, dim: int, reduce: int) -> None:
    """Elements are replaced, added to or multiplied in row-major order."""
    shape = [2, 2, 4]
    shape[dim] = 6
    index = indices(tuple(shape), SHAPE[dim])
    for layout in range(3):
        x, src = layouts(dtype, SHAPE)[layout], layouts(dtype, (6, 6, 6), 2)[layout]
        out_type = I64 if is_whole(dtype) else np.dtype("f8")
        wanted, with_number = wide(x), wide(x)
        for at in np.ndindex(*shape):
            to = list(at)
            to[dim] = index[at]
            for result, value in ((wanted, wide(src)[at]), (with_number, 2)):
                old = result[tuple(to)]
                result[tuple(to)] = (value, old + value, old * value)[reduce]
        call("Scatter", x, dim, index, src, reduce, out := like(out_type, SHAPE, layout))
        equal(out, wanted)
        if reduce == 1:
            call("ScatterAdd", x, dim, index, src, out := like(out_type, SHAPE, layout))
            equal(out, wanted)
            same = x.astype(out_type)
            call("ScatterAdd", same, dim, index, src, same)
            equal(same, wanted)
        in_place = wide(x).astype(out_type)
        call("InplaceScatter", in_place, dim, index, src, reduce)
        equal(in_place, wanted)
        in_place = wide(x).astype(out_type)
        call("InplaceScatterValue", in_place, dim, index, 2.0, reduce)
        equal(in_place, with_number)


@every_type
@every_dim
@every_index
def test_slices_written(dtype: Any, dim: int, index_type: str) -> None:
    """Of slices for the same index, all are added, and the last one stays."""
    index = indices((6,), SHAPE[dim], index_type)
    shape = list(SHAPE)
    shape[dim] = 6
    for layout in range(3):
        x, source = layouts(dtype, SHAPE)[layout], layouts(dtype, tuple(shape), 2)[layout]
        wanted = wide(x)
        for k, i in enumerate(index):
            wanted[place(dim, i)] += 3 * wide(source)[place(dim, k)]
        out_type = I64 if is_whole(dtype) else np.dtype("f8")
        call("IndexAdd", x, dim, index, source, 3, out := like(out_type, SHAPE, layout))
        equal(out, wanted)
        wanted = wide(x)
        for k, i in enumerate(index):
            wanted[place(dim, i)] = wide(source)[place(dim, k)]
        copied = layouts(dtype, SHAPE)[layout]
        call("InplaceIndexCopy", copied, dim, index, source)
        equal(copied, wanted)
        wanted = wide(x)
        wanted[place(dim, index)] = 1
        for name, given in (
            ("InplaceIndexFill", index),
            ("InplaceIndexFillTensor", index.tolist()),
        ):
            filled = layouts(dtype, SHAPE)[layout]
            call(name, filled, dim, given, 1.0)
            equal(filled, wanted)


SELECTIONS: list[list[Any]] = [
    [indices((2, 4), 4)],
    [None, indices((2, 4), 3) - 3],
    [indices((3,), 4) - 2, indices((2, 1), 3)],
    [None, indices((2,), 3), indices((2,), 5)],
    [indices((2,), 4), None, indices((3, 2), 5)],
    [indices((2,), 4), np.zeros(0, "f4"), indices((2,), 5, "i4")],
    [np.array(2), indices((2,), 3), indices((1,), 5)],
    [None, None],
]


def subscript(selection: list[Any]) -> tuple[Any, ...]:
    """Say the same to NumPy."""
    whole = [each is None or each.shape == (0,) for each in selection]
    return tuple(slice(None) if w else s for w, s in zip(whole, selection, strict=True))


@every_type
@pytest.mark.parametrize("selection", SELECTIONS, ids=range(len(SELECTIONS)))
def test_selections(dtype: Any, selection: list[Any]) -> None:
    """Each index is a tensor or a whole dimension; indices may be negative."""
    at = subscript(selection)
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        wanted = wide(x)[at]
        call("Index", x, selection, out := like(dtype, wanted.shape, layout))
        equal(out, wanted)
        values = layouts(dtype, wanted.shape[-1:], 3)[layout]
        for unsafe in (False, True):
            result = wide(x)
            result[at] = wide(values)
            put = layouts(dtype, SHAPE)[layout]
            call("IndexPutImpl", put, selection, values, False, unsafe)
            equal(put, result)
            result = wide(x)
            np.add.at(result, at, wide(values))
            added = wide(x).astype(I64 if is_whole(dtype) else "f8")
            call("IndexPutImpl", added, selection, values, True, unsafe)
            equal(added, result)


@every_type
def test_masked_scatter(dtype: Any) -> None:
    """Source is taken in row-major order; the rest of it is not used."""
    mask = data("?", (3, 1), 3)
    for layout in range(3):
        x, source = layouts(dtype, SHAPE)[layout], layouts(dtype, (11, 6), 2)[layout]
        wanted, chosen = wide(x), np.broadcast_to(mask, SHAPE)
        wanted[chosen] = wide(source).ravel()[: chosen.sum()]
        call("InplaceMaskedScatter", x, mask, source)
        equal(x, wanted)


@every_type
@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_one_hot(dtype: Any, axis: int) -> None:
    """The new dimension may be any."""
    index = indices((2, 3), 4, "i4")
    on, off = np.ones(1, dtype), np.zeros((), dtype)
    for layout in range(3):
        wanted = np.moveaxis(np.eye(4)[index], -1, axis)
        out = like(dtype, wanted.shape, layout)
        call("OneHot", index, 4, on, off, axis, out)
        equal(out, wanted)


def test_no_indices_and_rank_0() -> None:
    """Nothing is read or written for no index."""
    x, none = data("f4", SHAPE), np.zeros(0, "i8")
    wanted = x.copy()
    call("IndexSelect", x, 1, none, np.zeros((4, 0, 5), "f4"))
    call("Gather", x, 0, np.zeros((2, 0, 5), "i8"), np.zeros((2, 0, 5), "f4"))
    call("InplaceIndexCopy", x, 1, none, np.zeros((4, 0, 5), "f4"))
    call("InplaceIndexFillTensor", x, 1, [], 3)
    call("InplaceScatter", x, 0, none, none, 0)
    equal(x, wanted)
    call("Embedding", np.zeros((0, 3), "f4"), none, np.zeros((0, 3), "f4"))
    one, zero = np.array(3, "f4"), np.array(0, "i8")
    call("Gather", one, 0, zero, out := np.zeros((), "f4"))
    assert out == 3
    call("Index", data("f4", (3,)), [zero], out)
    assert out == data("f4", (3,))[0]
