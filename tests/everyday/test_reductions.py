# SPDX-License-Identifier: Apache-2.0
"""Reductions, against NumPy in float64 and int64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from softnpu import aclnn
from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import (
    FLOATS,
    I64,
    TYPES,
    close,
    data,
    equal,
    is_whole,
    layouts,
    like,
    wide,
)
from tests.support.described import TYPES as CODES
from tests.support.described import call

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SHAPE = (3, 4, 5)
DIMS: list[list[int]] = [[], [0], [-1], [1], [0, 2], [2, 0, 1]]


def axes(dims: list[int]) -> tuple[int, ...] | None:
    """Say which axes NumPy reduces."""
    return tuple(dims) or None


def reduced(shape: tuple[int, ...], dims: list[int], keep: bool) -> tuple[int, ...]:
    """Get the shape of a reduction."""
    return np.zeros(shape).sum(axis=axes(dims), keepdims=keep).shape


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("dims", DIMS, ids=str)
def test_sums(dtype: Any, dims: list[int]) -> None:
    """Sums, means, extremes and flags over some or all dimensions, kept or not, in each layout."""
    for keep, layout in itertools.product((False, True), range(3)):
        x = layouts(dtype, SHAPE)[layout]
        shape = reduced(SHAPE, dims, keep)
        where = {"axis": axes(dims), "keepdims": keep}
        for out_type in (dtype, np.dtype("f4"), I64):
            if is_whole(out_type) and not is_whole(dtype):
                continue
            code = CODES[np.dtype(out_type).name]
            out = like(out_type, shape, layout)
            call("ReduceSum", x, dims, keep, code, out)
            total = wide(x).sum(**where)
            equal(out, total)
        out = like(np.dtype("f4"), shape, layout)
        call("Mean", x, dims, keep, aclnn.ACL_FLOAT, out)
        close(out, wide(x).mean(**where))
        for name, f in (("Amax", np.max), ("Amin", np.min), ("All", np.all), ("Any", np.any)):
            out = like(dtype if name[0:2] == "Am" else np.dtype("?"), shape, layout)
            call(name, x, dims, keep, out)
            equal(out, f(wide(x), **where))
        low, high = like(dtype, shape, layout), like(dtype, shape, layout)
        call("Aminmax", x, dims, keep, low, high)
        equal(low, np.min(wide(x), **where))
        equal(high, np.max(wide(x), **where))


def norm(x: np.ndarray, p: float, where: Any) -> Any:
    """Compute a norm as its definition says."""
    size = np.abs(x)
    if np.isinf(p):
        return size.max(**where) if p > 0 else size.min(**where)
    return (size != 0).sum(**where) if p == 0 else (size**p).sum(**where) ** (1 / p)


@pytest.mark.parametrize("p", [0, 1, 2, 3.5, -1.5, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_norms(dtype: Any, p: float) -> None:
    """Both functions give the same norms; an infinite order gives an extreme."""
    for dims, keep in itertools.product(DIMS, (False, True)):
        x = layouts(dtype, SHAPE)[1]
        wanted = norm(wide(x), p, {"axis": axes(dims), "keepdims": keep})
        out = np.zeros(wanted.shape, dtype)
        call("Norm", x, np.float32(p), dims, keep, out)
        close(out, wanted)
        call("LinalgVectorNorm", x, p, dims, keep, CODES[dtype.name], out)
        close(out, wanted)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_positions_and_products(dtype: Any, dim: int) -> None:
    """Of equal elements, the first is the largest or smallest."""
    for keep, layout in itertools.product((False, True), range(3)):
        x = layouts(dtype, SHAPE)[layout]
        shape = reduced(SHAPE, [dim], keep)
        for name, best, where in (
            ("MaxDim", np.max, np.argmax),
            ("MinDim", np.min, np.argmin),
        ):
            out, indices = like(dtype, shape, layout), like(I64, shape, layout)
            call(name, x, dim, keep, out, indices)
            equal(out, best(wide(x), axis=dim, keepdims=keep))
            equal(indices, where(wide(x), axis=dim, keepdims=keep))
        for index_type in ("i8", "i4"):
            for name, position in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
                out = like(index_type, shape, layout)
                call(name, x, dim, keep, out)
                equal(out, position(wide(x), axis=dim, keepdims=keep))
        out_type = I64 if is_whole(dtype) else np.dtype("f8")
        out = like(out_type, shape, layout)
        call("ProdDim", x, dim, keep, CODES[out_type.name], out)
        close(out, wide(x).prod(axis=dim, keepdims=keep))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("dims", DIMS, ids=str)
def test_variances_and_log_sums(dtype: Any, dims: list[int]) -> None:
    """Variances are divided by n or n - 1; the logarithms of sums do not overflow."""
    for keep, layout in itertools.product((False, True), range(3)):
        x = layouts(dtype, SHAPE)[layout]
        where = {"axis": axes(dims), "keepdims": keep}
        for unbiased in (False, True):
            out = like(dtype, reduced(SHAPE, dims, keep), layout)
            call("Var", x, dims, unbiased, keep, out)
            close(out, wide(x).var(ddof=int(unbiased), **where), 1e-13)
        call("LogSumExp", x, dims, keep, out)
        close(out, np.log(np.exp(wide(x)).sum(**where)), 1e-13)
    large = np.float32([[1000, 1000], [-np.inf, -np.inf], [np.inf, 1], [np.nan, 1]])
    call("LogSumExp", large, [1], False, out := np.zeros(4, "f4"))
    close(out, [1000 + np.log(2), -np.inf, np.inf, np.nan])
    call("Var", large[:, :1], [1], True, False, out)
    assert np.isnan(out).all()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_medians(dtype: Any) -> None:
    """The lower of two in the middle; NaN wins."""
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        call("Median", x, out := np.zeros((), dtype))
        equal(out, np.sort(wide(x).reshape(-1))[29])
        for dim, keep in itertools.product((0, 1, -1), (False, True)):
            wanted = np.sort(wide(x), dim).take([(SHAPE[dim] - 1) // 2], dim)
            shape = reduced(SHAPE, [dim], keep)
            values, indices = like(dtype, shape, layout), like(I64, shape, layout)
            call("MedianDim", x, dim, keep, values, indices)
            equal(values, wanted.reshape(shape))
            where = indices.reshape(wanted.shape)
            equal(np.take_along_axis(wide(x), where, dim), wanted)
    x = np.float32([[3, np.nan, 1, np.nan], [4, 3, 2, 1]])
    values, indices = np.zeros(2, "f4"), np.zeros(2, "i8")
    call("MedianDim", x, 1, False, values, indices)
    equal(values, [np.nan, 2])
    equal(indices, [1, 2])
    call("Median", x, out := np.zeros((), "f4"))
    assert np.isnan(out)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,)])
def test_whole_tensors(dtype: Any, shape: tuple[int, ...]) -> None:
    """The output has one element, with or without a dimension."""
    x = data(dtype, SHAPE)
    out = np.zeros(shape, dtype)
    call("Max", x, out)
    equal(out, wide(x).max().reshape(shape))
    wider = np.zeros(shape, I64 if is_whole(dtype) else "f8")
    call("Prod", x, CODES[wider.dtype.name], wider)
    equal(wider, wide(x).prod().reshape(shape))


def test_not_a_number() -> None:
    """NaN is the largest and the smallest, adds nothing to a nansum, and counts as true."""
    x = np.float32([[1, np.nan, 3, np.nan], [2, 5, 5, -np.inf]])
    out, indices = np.zeros(2, "f4"), np.zeros(2, "i8")
    for name, second, at in (("MaxDim", 5, 1), ("MinDim", -np.inf, 3)):
        call(name, x, 1, False, out, indices)
        equal(out, [np.nan, second])
        equal(indices, [1, at])
    call("Amax", x, [1], False, out)
    equal(out, [np.nan, 5])
    call("ReduceSum", x, [1], False, aclnn.ACL_FLOAT, out)
    equal(out, [np.nan, -np.inf])
    call("ReduceNansum", x, [1], False, aclnn.ACL_FLOAT, out)
    equal(out, [4, -np.inf])
    flags = np.zeros(2, "?")
    call("All", x, [1], False, flags)
    equal(flags, [True, True])


def test_sums_are_rounded_once() -> None:
    """Sums are computed in float64 or int64."""
    x = np.array([1] + [2.0**-11] * 3, "f2")
    out = np.zeros((), "f2")
    call("ReduceSum", x, [], False, aclnn.ACL_FLOAT16, out)
    equal(out, 1 + 3 * 2.0**-11)
    large = np.array([2**62, -(2**62), 2**53 + 1])
    whole = np.zeros((), "i8")
    call("ReduceSum", large, [0], False, aclnn.ACL_INT64, whole)
    assert whole == 2**53 + 1


@pytest.mark.parametrize("dims", [[], [0], [-1]])
def test_rank_0(dims: list[int]) -> None:
    """A tensor of rank 0 has dimension 0, of one element."""
    x, out = np.array(2.5, "f4"), np.zeros((), "f4")
    call("ReduceSum", x, dims, True, aclnn.ACL_FLOAT, out)
    assert out == 2.5
    call("Amin", x, dims, False, out)
    assert out == 2.5
    index = np.ones((), "i8")
    call("MaxDim", x, -1, False, out, index)
    assert index == 0


def test_a_result_of_rank_0_in_a_tensor_of_one_element() -> None:
    """Programs pass [1] for []; other shapes are refused."""
    x = np.arange(4, dtype="f4")
    call("ReduceSum", x, [0], False, aclnn.ACL_FLOAT, out := np.zeros(1, "f4"))
    assert out[0] == 6
    for shape in ((2,), (1, 1)):
        with pytest.raises(ParamInvalidError, match=r"expected \[\]"):
            call("ReduceSum", x, [0], False, aclnn.ACL_FLOAT, np.zeros(shape, "f4"))


def test_no_elements() -> None:
    """Sums, products and means of nothing exist; extremes do not."""
    x = np.zeros((0, 3), "f4")
    out = np.ones(3, "f4")
    call("ReduceSum", x, [0], False, aclnn.ACL_FLOAT, out)
    equal(out, np.zeros(3))
    call("ProdDim", x, 0, False, aclnn.ACL_FLOAT, out)
    equal(out, np.ones(3))
    call("Mean", x, [0], False, aclnn.ACL_FLOAT, out)
    assert np.isnan(out).all()
    call("Amax", x, [1], False, np.zeros(0, "f4"))
    with pytest.raises(ParamInvalidError, match="no elements along the reduced dimensions"):
        call("Amax", x, [0], False, out)
    for name in ("ArgMax", "ArgMin"):
        with pytest.raises(ParamInvalidError, match="no elements"):
            call(name, x, 0, False, np.zeros(3, "i8"))
    with pytest.raises(ParamInvalidError, match="no elements"):
        call("Median", x, np.zeros((), "f4"))
    with pytest.raises(ParamInvalidError, match="no elements along dim 0"):
        call("MedianDim", x, 0, False, out, np.zeros(3, "i8"))


@pytest.mark.parametrize("index_type", ["i8", "i4", "u1"])
def test_bincount(index_type: str) -> None:
    """Counts are int64, sums of weights floating."""
    x = np.array([3, 0, 3, 5, 1], index_type)
    out = np.zeros(8, "i8")
    call("Bincount", x, None, 8, out)
    equal(out, np.bincount(x, minlength=8))
    for weight_type, out_type in (("f4", "f4"), ("f8", "f8"), ("i4", "f8")):
        weights, sums = data(weight_type, (5,)), np.zeros(6, out_type)
        call("Bincount", x, weights, 0, sums)
        equal(sums, np.bincount(x, wide(weights)))


def test_bincount_mistakes() -> None:
    """Nothing is written where a number has no bin."""
    out = np.full(3, 7, "i8")
    for bad in (-1, 3):
        with pytest.raises(
            RuntimeError, match=rf"self\[1\] is {bad}; expected 0 or more and less than 3"
        ):
            call("Bincount", np.array([0, bad, 1]), None, 0, out)
    equal(out, [7, 7, 7])
    with pytest.raises(ParamInvalidError, match="expected minlength 4 or more"):
        call("Bincount", np.array([0]), None, 4, out)
    with pytest.raises(ParamInvalidError, match="expected an integer type"):
        call("Bincount", np.zeros(2, "f4"), None, 0, out)


def test_mistakes() -> None:
    """Each is reported with what was given and what was expected."""
    x = np.zeros(SHAPE, "f4")
    with pytest.raises(ParamInvalidError, match="dims is 3; expected -3 to 2"):
        call("Amax", x, [3], False, np.zeros((3, 4), "f4"))
    with pytest.raises(ParamInvalidError, match="dimension 2 twice"):
        call("Amax", x, [2, -1], False, np.zeros((3, 4), "f4"))
    with pytest.raises(ParamInvalidError, match=r"out has shape \[3, 4\]; expected \[3, 4, 1\]"):
        call("All", x, [2], True, np.zeros((3, 4), "?"))
    with pytest.raises(ParamInvalidError, match="expected 1 element"):
        call("Max", x, np.zeros(2, "f4"))
    with pytest.raises(ParamInvalidError, match="indices has shape"):
        call("MaxDim", x, 0, False, np.zeros((4, 5), "f4"), np.zeros(4, "i8"))
    with pytest.raises(ParamInvalidError, match="dtype is"):
        call("ReduceSum", x, [2], False, 999, np.zeros((3, 4), "f4"))


def test_more_elements_than_memory() -> None:
    """The next synchronisation reports it."""
    x = np.broadcast_to(np.zeros(1, "i1"), (2**62,))
    with pytest.raises(RuntimeError, match="out of host memory"):
        call("Median", x, np.zeros((), "i1"))
