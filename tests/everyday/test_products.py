# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and linear algebra, against NumPy in float64 and int64."""

from __future__ import annotations

import ctypes as ct
from typing import Any

import numpy as np
import pytest

from softnpu import aclnn
from softnpu.errors import ParamInvalidError, ParamNullptrError
from tests.everyday.arrays import FLOATS
from tests.everyday.layers import LAYOUTS, assert_rounded, data, laid_out, unwritten
from tests.support.capi_symbols import library_folder
from tests.support.described import INT4, call

PRODUCTS = [
    ("Matmul", (3, 4), (4, 5)),
    ("Matmul", (4,), (4,)),
    ("Matmul", (4,), (2, 4, 5)),
    ("Matmul", (2, 3, 4), (4,)),
    ("Matmul", (2, 3, 4), (4, 5)),
    ("Matmul", (2, 1, 3, 4), (5, 4, 2)),
    ("Matmul", (3, 0), (0, 2)),
    ("Matmul", (0, 3), (3, 2)),
    ("Matmul", (70, 130), (130, 600)),
    ("Mm", (5, 7), (7, 2)),
    ("BatchMatMul", (4, 2, 3), (4, 3, 6)),
    ("BatchMatMul", (1, 2, 3), (4, 3, 6)),
    ("BatchMatMul", (2, 1, 2, 3), (5, 3, 4)),
    ("Mv", (4, 6), (6,)),
]


@pytest.mark.parametrize(("name", "left", "right"), PRODUCTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_products(name: str, left: Any, right: Any, dtype: Any, layout: str) -> None:
    """Any layout of the factors and of the result."""
    a, b = data(dtype, left, 1, layout), data(dtype, right, 2, layout)
    wanted = np.matmul(a.astype("f8"), b.astype("f8"))
    out = unwritten(dtype, wanted.shape, layout)
    call(name, a, b, out, 1)
    assert_rounded(out, wanted)


def test_a_batch_that_is_broadcast_memory() -> None:
    """Strides may be 0."""
    a = np.broadcast_to(data("f4", (1, 3, 4)), (5, 3, 4))
    b, out = data("f4", (5, 4, 2), 1), unwritten("f4", (5, 3, 2))
    call("BatchMatMul", a, b, out, 0)
    assert_rounded(out, np.matmul(a.astype("f8"), b.astype("f8")))


def test_integers_are_exact() -> None:
    """Sums are those of int64, beyond what float64 holds, and wrap."""
    a = np.array([[2**62, 3, 2**62 + 1], [-1, 2**53 + 1, 5]])
    b = np.array([[1, 2], [2**40, -7], [3, 2**62]])
    out = unwritten("i8", (2, 2))
    call("Matmul", a, b, out, 0)
    np.testing.assert_array_equal(out, a @ b)
    small = data("i1", (3, 200))
    out = unwritten("i4", (3, 3))
    call("Mm", small, small.T, out, 0)
    np.testing.assert_array_equal(out, small.astype("i4") @ small.T.astype("i4"))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_dot(dtype: Any) -> None:
    """The result has rank 0."""
    a, b, out = data(dtype, (100,)), data(dtype, (100,), 1, "sliced"), unwritten(dtype, ())
    call("Dot", a, b, out)
    assert_rounded(out, np.dot(a.astype("f8"), b.astype("f8")))


SUMS = [
    ("Addmm", (3, 5), (3, 4), (4, 5)),
    ("Addmm", (5,), (3, 4), (4, 5)),
    ("Addmm", (3, 1), (3, 0), (0, 5)),
    ("Baddbmm", (2, 3, 5), (2, 3, 4), (2, 4, 5)),
    ("Baddbmm", (3, 1), (2, 3, 4), (2, 4, 5)),
]


@pytest.mark.parametrize(("name", "self", "left", "right"), SUMS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_scaled_sums(name: str, self: Any, left: Any, right: Any, dtype: Any) -> None:
    """Beta * self + alpha * product, where self is broadcast."""
    x, a, b = data(dtype, self), data(dtype, left, 1, "transposed"), data(dtype, right, 2, "sliced")
    wanted = 0.5 * x.astype("f8") - 2.0 * np.matmul(a.astype("f8"), b.astype("f8"))
    out = unwritten(dtype, wanted.shape)
    call(name, x, a, b, 0.5, np.float32(-2), out, 0)
    assert_rounded(out, wanted)


def test_scaled_sums_in_place_and_of_integers() -> None:
    """Self may be out. With beta = 0, NaN in self does not count."""
    a, b, x = data("f4", (3, 4), 1), data("f4", (4, 3), 2), data("f4", (3, 3))
    wanted = x.astype("f8") + a.astype("f8") @ b.astype("f8")
    call("Addmm", x, a, b, 1, 1, x, 0)
    assert_rounded(x, wanted)
    x[:] = np.nan
    call("Addmm", x, a, b, 0.0, 1.0, x, 0)
    assert_rounded(x, a.astype("f8") @ b.astype("f8"))
    a, b, x, out = (*(data("i4", (3, 3), i) for i in range(3)), unwritten("i8", (3, 3)))
    call("Addmm", x, a, b, 2, 3, out, 0)
    np.testing.assert_array_equal(out, 2 * x + 3 * (a.astype("i8") @ b))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("turns", [(0, 0), (1, 0), (0, 1), (1, 2)])
def test_gemm(dtype: Any, turns: tuple[int, int]) -> None:
    """Any flag but 0 transposes a matrix. C may be out, and null if beta is 0."""
    a, b = data(dtype, (3, 4), 1, "sliced"), data(dtype, (4, 5), 2, "transposed")
    given = [each.T.copy() if turn else each for each, turn in zip((a, b), turns, strict=True)]
    c, product = data(dtype, (3, 5)), a.astype("f8") @ b.astype("f8")
    for added, beta, factor in ((c, 0.5, 1.0), (c[:1], -1.0, 2.0), (None, 0.0, 1.0)):
        out = unwritten(dtype, (3, 5))
        call("Gemm", *given, added, factor, beta, *turns, out, 1)
        assert_rounded(out, factor * product + (0 if added is None else beta * added.astype("f8")))
    wanted = product + c.astype("f8")
    call("Gemm", *given, c, 1.0, 1.0, *turns, c, 1)
    assert_rounded(c, wanted)


def test_gemm_without_c() -> None:
    """A factor of nothing is a mistake."""
    a = data("f4", (2, 2))
    with pytest.raises(ParamNullptrError, match="C is null"):
        call("Gemm", a, a, None, 1.0, 0.5, 0, 0, unwritten("f4", (2, 2)), 0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("dim", [1, -1])
def test_cross(dtype: Any, dim: int) -> None:
    """Shapes are broadcast."""
    a, b = data(dtype, (4, 3, 3)), data(dtype, (3, 3), 1, "transposed")
    out = unwritten(dtype, (4, 3, 3))
    call("LinalgCross", a, b, dim, out)
    wide = np.broadcast_to(b, a.shape).astype("f8")
    assert_rounded(out, np.cross(a.astype("f8"), wide, axis=dim))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 3, 6, 2), (1, 1), (3, 0)])
@pytest.mark.parametrize("mode", [0, 1])
def test_qr(shape: Any, mode: int) -> None:
    """Q R is self, the columns of Q are orthonormal, and R is upper triangular."""
    *batch, m, n = shape
    a, k = data("f8", shape, layout="transposed"), m if mode == 1 else min(m, n)
    q, r = unwritten("f8", (*batch, m, k)), unwritten("f8", (*batch, k, n))
    call("LinalgQr", a, mode, q, r)
    np.testing.assert_allclose(q @ r, a, atol=1e-13)
    identity = np.broadcast_to(np.eye(k), (*batch, k, k))
    np.testing.assert_allclose(np.swapaxes(q, -1, -2) @ q, identity, atol=1e-13)
    np.testing.assert_array_equal(r, np.triu(r))


@pytest.mark.parametrize(("alpha", "result"), [(np.inf, 2**31 - 1), (-1e300, -(2**31))])
def test_factors_beyond_integers(alpha: float, result: int) -> None:
    """The sum of integers is the nearest integer that the output holds."""
    ones, out = np.ones((1, 1), "i4"), np.zeros((1, 1), "i4")
    call("Addmm", ones, ones, ones, 1.0, alpha, out, 0)
    assert out[0, 0] == result


def test_qr_of_a_tall_matrix() -> None:
    """It takes memory for no square of its rows."""
    a = data("f8", (100_000, 2))
    q, r = unwritten("f8", (100_000, 2)), unwritten("f8", (2, 2))
    call("LinalgQr", a, 0, q, r)
    np.testing.assert_allclose(q @ r, a, atol=1e-12)
    np.testing.assert_allclose(q.T @ q, np.eye(2), atol=1e-12)


def test_qr_of_no_columns() -> None:
    """The complete Q is the identity."""
    q = unwritten("f8", (3, 3))
    call("LinalgQr", np.zeros((3, 0)), 1, q, np.zeros((3, 0)))
    np.testing.assert_array_equal(q, np.eye(3))


def test_qr_of_zeros_and_only_r() -> None:
    """A column of zeros needs no reflection. Mode 2 has an empty Q."""
    a = np.zeros((3, 2), np.float32)
    a[0, 1] = 2
    q, r = unwritten("f4", (3, 2)), unwritten("f4", (2, 2))
    call("LinalgQr", a, 0, q, r)
    np.testing.assert_array_equal(q @ r, a)
    only = unwritten("f4", (2, 2))
    call("LinalgQr", a, 2, np.zeros(0, np.float32), only)
    np.testing.assert_array_equal(only, r)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize(("rhs", "matrix"), [((4, 3), (4, 4)), ((2, 3, 4, 2), (3, 4, 4))])
def test_triangular_solve(upper: bool, transpose: bool, unit: bool, rhs: Any, matrix: Any) -> None:
    """Only the triangle of A counts; mOut is A."""
    b, a = data("f8", rhs, layout="sliced"), data("f8", matrix, 1) + 4 * np.eye(4)
    factor = np.triu(a) if upper else np.tril(a)
    if unit:
        factor = factor - factor * np.eye(4) + np.eye(4)
    if transpose:
        factor = np.swapaxes(factor, -1, -2)
    wide = np.broadcast_to(a, (*rhs[:-2], 4, 4))
    x, m = unwritten("f8", rhs), unwritten("f8", wide.shape)
    call("TriangularSolve", b, a, upper, transpose, unit, x, m)
    np.testing.assert_allclose(factor @ x, b, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(m, wide)


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 5, 5), (0, 0)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_inverse(shape: Any, dtype: Any) -> None:
    """Batches, any layout, and a matrix whose first pivot is 0."""
    a = laid_out((data("f8", shape) + 4 * np.eye(shape[-1])).astype(dtype), "sliced")
    call("Inverse", a, out := unwritten(dtype, shape, "transposed"))
    assert_rounded(out, np.linalg.inv(a.astype("f8")))
    swap = np.array([[0, 2], [4, 0]], dtype)
    call("Inverse", swap, out := unwritten(dtype, (2, 2)))
    assert_rounded(out, [[0, 0.25], [0.5, 0]])


@pytest.mark.parametrize("kind", ["int8", "int4"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("size", "groups"), [(32, 3), (50, 2), (0, 1)])
def test_quantised_weights(kind: str, layout: str, size: int, groups: int) -> None:
    """Each group of rows of the weight has its scales; the last one may be smaller."""
    x, weight = data("f2", (3, 96), 1), laid_out(data("i1", (96, 5), 2), layout)
    weight = np.clip(weight, -8, 7)
    if kind == "int4":
        weight = laid_out(weight.astype(INT4), layout)
    scale, offset = data("f2", (groups, 5), 3, "transposed"), data("f2", (groups, 5), 4)
    bias, out = data("f2", (5,)), unwritten("f2", (3, 5))
    rows = [slice(None)] if size == 0 else [slice(i, i + size) for i in range(0, 96, size)]
    wide = weight.astype("f8")
    for group, each in enumerate(rows):
        wide[each] = (wide[each] + offset[group]) * scale[group]
    call("WeightQuantBatchMatmulV2", x, weight, scale, offset, None, None, bias, size, out)
    assert_rounded(out, x.astype("f8") @ wide + bias)
    call("WeightQuantBatchMatmulV2", x, weight, scale, None, None, None, None, size, out)
    with pytest.raises(ParamInvalidError, match="quantScale is given, but softnpu only"):
        call("WeightQuantBatchMatmulV2", x, weight, scale, None, bias, None, None, size, out)


def test_int4_elsewhere() -> None:
    """Only this operator reads it."""
    weight, x, out = np.zeros((4, 2), INT4), data("f2", (1, 4)), unwritten("f2", (1, 2))
    with pytest.raises(ParamInvalidError, match="mat2 has data type INT4, which is not supported"):
        call("Mm", x, weight, out, 0)
    scale = data("f2", (1, 2))
    call("WeightQuantBatchMatmulV2", x, weight, scale, None, None, None, None, 0, out)
    np.testing.assert_array_equal(out, 0)


def test_a_weight_stays_as_it_is() -> None:
    """There is no private layout."""
    weight = data("f2", (4, 6))
    before = weight.copy()
    call("TransMatmulWeight", weight)
    np.testing.assert_array_equal(weight, before)


def test_the_size_of_a_weight() -> None:
    """The number of elements: the layout stays. The function has one phase and is only in C."""
    function = ct.CDLL(str(library_folder() / "libopapi.so")).aclnnCalculateMatmulWeightSizeV2
    size = ct.c_uint64()
    for shape, wanted in (([3, 5], 15), ([], 1), ([2, -1], None), ([2**40, 2**40], None)):
        array = aclnn.aclCreateIntArray(shape)
        code = function(ct.c_void_p(array), aclnn.ACL_FLOAT16, ct.byref(size))
        aclnn.aclDestroyIntArray(array)
        assert (code, size.value) == (0, wanted) if wanted is not None else code == 161002
    assert function(None, aclnn.ACL_FLOAT16, ct.byref(size)) != 0


MISTAKES: list[tuple[str, list[Any], str]] = [
    ("Matmul", [(3, 4), (5, 2), (3, 2), 0], "inner sizes 4 and 5"),
    ("Matmul", [(), (5, 2), (2,), 0], "self has shape"),
    ("Matmul", [(2, 3, 4), (3, 4, 2), (3, 3, 2), 0], "cannot be broadcast"),
    ("Matmul", [(3, 4), (4, 2), (3, 3), 0], r"out has shape \[3, 3\]; expected \[3, 2\]"),
    ("Mm", [(1, 3, 4), (4, 2), (1, 3, 2), 0], "expected rank 2"),
    ("BatchMatMul", [(3, 4), (4, 2), (3, 2), 0], "expected rank 3 to 64"),
    ("Mv", [(3, 4), (4, 1), (3, 1), 0], "vec has shape"),
    ("Dot", [(3,), (4,), ()], "inner sizes"),
    ("Addmm", [(2, 2), (3, 4), (4, 2), 1.0, 1.0, (3, 2), 0], "self has shape"),
    ("Baddbmm", [(2,), (3, 4), (4, 2), 1.0, 1.0, (3, 2), 0], "expected rank 3"),
    ("LinalgCross", [(4, 3), (4, 3), 0, (4, 3)], "has size 4; expected 3"),
    ("LinalgCross", [(4, 3), (2, 3), 1, (4, 3)], "cannot be broadcast"),
    ("LinalgQr", [(3, 4), 3, (3, 3), (3, 4)], "mode is 3"),
    ("LinalgQr", [(3, 4), 0, (3, 4), (3, 4)], "Q has shape"),
    ("Inverse", [(3, 4), (3, 4)], r"self has shape \[3, 4\]; expected \[4, 4\]"),
    ("TriangularSolve", [(3, 2), (3, 4), True, False, False, (3, 2), (3, 3)], "A has shape"),
]


@pytest.mark.parametrize(("name", "given", "message"), MISTAKES)
def test_mistakes(name: str, given: list[Any], message: str) -> None:
    """Each is found in phase one. Shapes stand for tensors."""
    values = [laid_out(np.zeros(v, "f4"), "") if isinstance(v, tuple) else v for v in given]
    with pytest.raises(ParamInvalidError, match=message):
        call(name, *values)
    with pytest.raises(ParamNullptrError, match="self is null"):
        call(name, None, *values[1:])
