# SPDX-License-Identifier: Apache-2.0
"""The float64 definitions against exact and 50-digit arithmetic, written a second time.

Everything here works element by element with fractions and decimals, and shares no code with the
definitions. A definition may be off by a few float64 roundings; MARGIN says how many.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softnpu import reference
from softnpu.judging.ulp import distance, faithful, ordinal, same_bits
from tests.support import specials as sp

MARGIN = Fraction(8, 2**53)
DIGITS = Context(prec=50, Emin=-999_999, Emax=999_999)
LAMBDA = Fraction("1.0507009873554804934193349852946")
LAMBDA_ALPHA = Fraction("1.7580993408473768599402175208123")

FINITE = st.floats(-(2.0**100), 2.0**100, width=32)
SCALAR = st.floats(2.0**-30, 2.0**30, width=32)


def close(computed: npt.NDArray[np.float64], exact: Fraction) -> bool:
    """Whether a float64 value is within a few float64 roundings of an exact one."""
    return abs(Fraction(computed.item()) - exact) <= abs(exact) * MARGIN


def one(value: float) -> npt.NDArray[np.float32]:
    """Return an array of one float32."""
    return np.array([value], np.float32)


@settings(max_examples=300, deadline=None)
@given(g=FINITE, x=FINITE, scalars=st.tuples(SCALAR, SCALAR, SCALAR))
@example(g=1.0, x=-1.7580993175506592, scalars=(1.6732631921768188, 1.0507010221481323, 1.0))
def test_elu_backward_from_the_result(
    g: float, x: float, scalars: tuple[float, float, float]
) -> None:
    """Law: g * (s if x > 0 else k * (x + a*s)) in exact arithmetic, near cancellation too."""
    a, s, k = map(Fraction, scalars)
    exact = Fraction(g) * (s if x > 0 else k * (Fraction(x) + a * s))
    computed = reference.elu_backward(one(g), *scalars, True, one(x))
    assert close(computed, exact)


@settings(max_examples=300, deadline=None)
@given(
    g=FINITE,
    t=st.floats(-500, 500),
    scalars=st.tuples(SCALAR, SCALAR, SCALAR | SCALAR.map(lambda v: -v)),
)
def test_elu_backward_from_the_input(
    g: float, t: float, scalars: tuple[float, float, float]
) -> None:
    """Law: g * (s if x > 0 else k * a * s * exp(x*k)), with the exponential to 50 digits."""
    x = float(np.float32(t / scalars[2]))
    a, s, k = map(Fraction, scalars)
    with localcontext(DIGITS):
        product = Fraction(x) * k
        power = Fraction((Decimal(product.numerator) / Decimal(product.denominator)).exp())
    exact = Fraction(g) * (s if x > 0 else k * a * s * power)
    computed = reference.elu_backward(one(g), *scalars, False, one(x))
    assert close(computed, exact)


def expm1(t: Fraction) -> Fraction:
    """exp(t) - 1 to 50 digits, for t from 1e-70 up."""
    with localcontext(DIGITS) as context:
        context.prec = 120
        return Fraction((Decimal(t.numerator) / Decimal(t.denominator)).exp() - 1)


@settings(max_examples=300, deadline=None)
@given(
    t=st.floats(-500, 500) | st.floats(-1e-3, 1e-3),
    scalars=st.tuples(SCALAR, SCALAR, SCALAR | SCALAR.map(lambda v: -v)),
)
def test_elu(t: float, scalars: tuple[float, float, float]) -> None:
    """Law: s * x if x > 0 else a * s * (exp(x*k) - 1), with the exponential to 50 digits."""
    x = float(np.float32(t / scalars[2]))
    a, s, k = map(Fraction, scalars)
    exact = s * Fraction(x) if x > 0 else a * s * expm1(Fraction(x) * k)
    assert close(reference.elu(one(x), *scalars), exact)


@settings(max_examples=300, deadline=None)
@given(x=st.floats(-500, 2.0**100, width=32) | st.floats(-1, 0, width=32))
def test_selu(x: float) -> None:
    """Law: lambda * x if x > 0 else lambda*alpha * (exp(x) - 1), to 32 digits."""
    exact = LAMBDA * Fraction(x) if x > 0 else LAMBDA_ALPHA * expm1(Fraction(x))
    assert close(reference.selu(one(x)), exact)


@settings(max_examples=300, deadline=None)
@given(g=FINITE, y=FINITE | st.floats(-1.7580997943878174, -1.7580989599227905, width=32))
def test_selu_backward(g: float, y: float) -> None:
    """Law: g * (y + lambda*alpha if y < 0 else lambda) with the document's 32 digits."""
    exact = Fraction(g) * (Fraction(y) + LAMBDA_ALPHA if y < 0 else LAMBDA)
    assert close(reference.selu_backward(one(g), one(y)), exact)


@settings(max_examples=300, deadline=None)
@given(g=FINITE, a=FINITE, b=FINITE, beta=st.just(0.0) | SCALAR, code=st.sampled_from([0, 1, 2]))
def test_smooth_l1_loss_backward(g: float, a: float, b: float, beta: float, code: int) -> None:
    """Law: g * (d/beta if |d| < beta else sign(d)), over N for mean, in exact arithmetic."""
    d = Fraction(a) - Fraction(b)
    slope = d / Fraction(beta) if abs(d) < beta else Fraction((d > 0) - (d < 0))
    exact = Fraction(g) * slope / (3 if code == 1 else 1)
    self, target = np.full((3, 1), a, np.float32), np.full((1, 1), b, np.float32)
    computed = reference.smooth_l1_loss_backward(one(g), self, target, code, beta)
    assert computed.shape == (3, 1)
    assert close(computed[:1], exact)


def test_smooth_l1_loss_backward_beyond_the_numbers() -> None:
    """Law: infinite beta gives 0 for finite inputs, however far apart, 1 for infinite ones."""
    a = np.array([5, np.inf, -np.inf, np.nan, 3e38], np.float32)
    b = np.array([1, 1, 1, 1, -3e38], np.float32)
    grad, inf = np.ones(5, np.float32), float("inf")
    computed = reference.smooth_l1_loss_backward(grad, a, b, 0, inf)
    np.testing.assert_array_equal(computed, [0, 1, -1, np.nan, 0])
    wrong: list[tuple[int | str, float]] = [("max", 1), (3, 1), (0, -1), (0, float("nan"))]
    for reduction, beta in wrong:
        with pytest.raises(ValueError, match="smooth_l1_loss_backward"):
            reference.smooth_l1_loss_backward(grad, a, b, reduction, beta)
    # What is checked is the float32 that is used: this one is -0.
    computed = reference.smooth_l1_loss_backward(grad, a, b, 0, -1e-60)
    np.testing.assert_array_equal(computed, [1, 1, -1, np.nan, 1])


@settings(max_examples=300, deadline=None)
@given(
    values=st.lists(FINITE, min_size=1, max_size=5),
    b=FINITE,
    beta=st.just(0.0) | SCALAR,
    code=st.sampled_from([0, 1, 2]),
)
def test_smooth_l1_loss(values: list[float], b: float, beta: float, code: int) -> None:
    """Law: the Huber loss over beta, m * (|d| - m/2) with m = min(|d|, beta), in exact arithmetic.

    Only the difference is rounded: where |d| is about beta / 2, the loss is as small as its square.
    """
    exact = []
    for a in values:
        d = abs(Fraction(a) - Fraction(b))
        m = min(d, Fraction(beta))
        exact.append(m * (d - m / 2) / Fraction(beta) if beta else d)
    self, target = np.array(values, np.float32), np.full((1, 1), b, np.float32)
    computed = reference.smooth_l1_loss(self, target, code, beta)
    if code == 0:
        assert computed.shape == (1, len(values))
        assert all(close(computed[0, i : i + 1], each) for i, each in enumerate(exact))
    else:
        assert computed.shape == ()
        assert close(computed, sum(exact) / (len(values) if code == 1 else 1))


def test_smooth_l1_loss_beyond_the_numbers() -> None:
    """Law: sums of nothing, of NaN, of infinities; an infinite beta; what is refused."""
    a = np.array([5, np.inf, -np.inf, np.nan, 3e38], np.float32)
    b = np.array([1, 1, 1, 1, -3e38], np.float32)
    inf, none = float("inf"), np.zeros((3, 0), np.float32)
    computed = reference.smooth_l1_loss(a, b, "none", inf)
    np.testing.assert_array_equal(computed, [0, np.nan, np.nan, np.nan, 0])
    assert reference.smooth_l1_loss(a[:3], b[:3], "sum", 1) == inf
    assert np.isnan(reference.smooth_l1_loss(a, b, "mean", 1))
    assert reference.smooth_l1_loss(none, none, "sum", 1) == 0
    assert np.isnan(reference.smooth_l1_loss(none, none, "mean", 1))
    wrong: list[tuple[int | str, float]] = [("max", 1), (3, 1), (0, -1), (0, float("nan"))]
    for reduction, beta in wrong:
        with pytest.raises(ValueError, match="smooth_l1_loss:"):
            reference.smooth_l1_loss(a, b, reduction, beta)
    computed = reference.smooth_l1_loss(a, b, 0, -1e-60)
    np.testing.assert_array_equal(computed[:4], [4, inf, inf, np.nan])


def float32_of(value: Fraction) -> Fraction:
    """Round a positive normal fraction to 24 bits, to nearest even, in integers only."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 24
    while value / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    return round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent


@settings(max_examples=300, deadline=None)
@given(size=st.integers(1, 50), out=st.integers(1, 2000), scale=st.none() | st.floats(0.01, 99))
@example(size=2, out=82, scale=None)
@example(size=3, out=14, scale=4.7)
def test_upsample_ranges(size: int, out: int, scale: float | None) -> None:
    """Law: start(i) = min(ceil(float32(i) * scale), out) with every float32 rounding by hand."""
    step = float32_of(Fraction(out, size) if scale is None else Fraction(scale))
    exact = [0] + [min(math.ceil(float32_of(i * step)), out) for i in range(1, size + 1)]
    grad = np.zeros((1, 1, 1, 1, out))
    # each element its own power of two: a sum shows exactly which elements are in it
    for first in range(0, out, 50):
        grad[...] = 0
        grad[0, 0, 0, 0, first : first + 50] = 2.0 ** np.arange(
            len(grad[..., first : first + 50].T)
        )
        given_scales = (0.0, 0.0, 0.0) if scale is None else (1.0, 1.0, scale)
        computed = reference.upsample_nearest3d_backward(
            grad, (1, 1, out), (1, 1, 1, 1, size), *given_scales
        )
        for i in range(size):
            terms = range(max(exact[i], first), min(exact[i + 1], first + 50))
            assert computed[0, 0, 0, 0, i] == sum(2.0 ** (z - first) for z in terms)


def test_upsample_sums_are_exact_in_three_axes() -> None:
    """Law: a box sum equals the exact sum rounded once, and both formats agree."""
    rng = np.random.default_rng(80)
    grad = rng.standard_normal((2, 3, 5, 6, 9)) * 10.0 ** rng.integers(-12, 12, (2, 3, 5, 6, 9))
    computed = reference.upsample_nearest3d_backward(grad, (5, 6, 9), (2, 3, 2, 3, 4))
    edges = [[0, 3, 5], [0, 2, 4, 6], [0, 3, 5, 7, 9]]
    for n, c, d, h, w in np.ndindex(computed.shape):
        cuts = [slice(e[i], e[i + 1]) for e, i in zip(edges, (d, h, w), strict=True)]
        exact = sum(map(Fraction, grad[n, c, cuts[0], cuts[1], cuts[2]].ravel().tolist()))
        assert computed[n, c, d, h, w] == float(exact)
    last = np.moveaxis(grad, 1, -1)
    for size in [(2, 2, 3, 4, 3), (2, 3, 2, 3, 4)]:
        again = reference.upsample_nearest3d_backward(last, (5, 6, 9), size, format="NDHWC")
        np.testing.assert_array_equal(np.moveaxis(again, -1, 1), computed)


def test_upsample_sums_beyond_the_numbers() -> None:
    """Law: only the whole sum can overflow; infinities and NaN add as IEEE 754 says."""
    big = np.finfo(np.float64).max
    rows = [[big, big, -big], [big, big, 0], [np.inf, 1, 1], [np.inf, -np.inf, 1], [np.nan, 1, 1]]
    grad = np.array(rows).reshape(1, 5, 1, 1, 3)
    computed = reference.upsample_nearest3d_backward(grad, (1, 1, 3), (1, 5, 1, 1, 1))
    np.testing.assert_array_equal(computed.ravel(), [big, np.inf, np.inf, np.nan, np.nan])


def test_upsample_sums_that_are_zero() -> None:
    """Law: only a sum of nothing but -0 is -0; an empty one, and any other zero sum, is +0."""
    rows = [[-0.0, -0.0], [-0.0, 0.0], [1.0, -1.0], [0.0, 0.0]]
    grad = np.array(rows).reshape(1, 4, 1, 1, 2)
    computed = reference.upsample_nearest3d_backward(grad, (1, 1, 2), (1, 4, 1, 1, 1))
    assert same_bits(computed.ravel(), np.array([-0.0, 0.0, 0.0, 0.0]))
    spread = reference.upsample_nearest3d_backward(grad, (1, 1, 2), (1, 4, 1, 1, 3))
    assert same_bits(spread[0, 0].ravel(), np.array([-0.0, -0.0, 0.0]))


@settings(max_examples=100, deadline=None)
@given(size=st.integers(1, 40), out=st.integers(1, 200), scale=st.none() | st.floats(0.01, 9))
@example(size=2, out=82, scale=None)
def test_upsample_sources(size: int, out: int, scale: float | None) -> None:
    """Law: element z copies the last i with start(i) <= z, every float32 rounding by hand."""
    step = float32_of(Fraction(out, size) if scale is None else Fraction(scale))
    starts = [0] + [min(math.ceil(float32_of(i * step)), out) for i in range(1, size)]
    values = np.arange(size, dtype=np.uint8).reshape(1, 1, 1, size, 1)
    given_scales = (0.0, 0.0, 0.0) if scale is None else (1.0, scale, 1.0)
    computed = reference.upsample_nearest3d(values, (1, out, 1), *given_scales)
    assert computed.ravel().tolist() == [
        max(i for i in range(size) if starts[i] <= z) for z in range(out)
    ]
    last = reference.upsample_nearest3d(
        values.reshape(1, 1, size, 1, 1), (1, out, 1), *given_scales, format="NDHWC"
    )
    assert same_bits(last.ravel(), computed.ravel())


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_unpool_is_a_loop(data: st.DataObject, seed: int) -> None:
    """Law: zeros, and one assignment after the other, in row-major order."""
    rng = np.random.default_rng(seed)
    lead = data.draw(st.sampled_from([(2,), (2, 2), (0, 2)]))
    self = rng.integers(-99, 99, (*lead, 2, 3, 2)).astype(np.int16)
    indices = rng.integers(0, 12, self.shape, np.int32)
    exact = dict.fromkeys(np.ndindex(*lead, 12), 0)
    for position in np.ndindex(self.shape):
        exact[(*position[:-3], int(indices[position]))] = int(self[position])
    computed = reference.max_unpool3d(self, indices, (3, 2, 2), (1, 1, 1), (0, 0, 0))
    assert computed.dtype == self.dtype
    assert computed.ravel().tolist() == list(exact.values())


def test_unpool_of_what_does_not_belong_together() -> None:
    """Law: shapes that differ are a ValueError, an index out of range is an IndexError."""
    self, sizes = np.ones((1, 1, 2, 2), np.float32), ((2, 2, 2), (1, 1, 1), (0, 0, 0))
    with pytest.raises(ValueError, match=r"^max_unpool3d: "):
        reference.max_unpool3d(self, np.zeros((1, 1, 2, 1), np.int64), *sizes)
    with pytest.raises(IndexError, match=r"^max_unpool3d: indices\[0, 0, 0, 0\] is 8"):
        reference.max_unpool3d(self, np.full(self.shape, 8), *sizes)


def test_document_samples() -> None:
    """Law: the definitions give the documents' results for the documents' samples."""
    x = np.array([[-2, -1], [0, 1]], np.float32)
    elu = reference.elu_backward(x, 1.0, 1.0, 1.0, True, x)
    assert same_bits(elu, np.array([[2, -0.0], [0, 1]]))
    y = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert (reference.selu_backward(np.ones_like(y), y) == float(LAMBDA)).all()
    loss = reference.smooth_l1_loss_backward(np.ones_like(y), y, np.ones_like(y), 0, 1.0)
    assert loss.ravel().tolist() == [-1, 0, 1, 1, 1, 1, 1, 1]
    grad = np.arange(1, 33, dtype=np.float32).reshape(2, 2, 2, 2, 2)
    up = reference.upsample_nearest3d_backward(grad, (2, 2, 2), (2, 2, 1, 1, 1))
    assert up.ravel().tolist() == [36, 100, 164, 228]


def test_nan_is_not_above_zero() -> None:
    """Law: NaN takes the second branch and comes out as NaN, whatever the gradient."""
    nan, grad = one(math.nan), one(2.0)
    for is_result in (True, False):
        assert np.isnan(reference.elu_backward(grad, 1, 1, 1, is_result, nan)).all()
    assert np.isnan(reference.selu_backward(grad, nan)).all()
    assert np.isnan(reference.smooth_l1_loss_backward(grad, nan, grad, 0, 0.0)).all()


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_rounding_is_to_nearest_even(dtype: np.dtype[Any]) -> None:
    """Law: midpoints of neighbours go to the even one, values a step beside them to the nearer."""
    rng = np.random.default_rng(81)
    low = np.abs(sp.random_bits(rng, 20_000, dtype))
    low = low[np.isfinite(low)]
    unsigned = np.dtype(f"u{dtype.itemsize}")
    high = (low.view(unsigned) + unsigned.type(1)).view(dtype)
    low, high = low[np.isfinite(high)], high[np.isfinite(high)]
    middle = (low.astype(np.float64) + high.astype(np.float64)) / 2
    even = np.where(low.view(unsigned) % 2 == 0, low, high)
    for sign in (1.0, -1.0):
        signed = [(sign * v.astype(np.float64)).astype(dtype) for v in (low, even, high)]
        for value, expected in zip(
            (np.nextafter(middle, 0), middle, np.nextafter(middle, np.inf)), signed, strict=True
        ):
            assert same_bits(reference.round_to(sign * value, dtype), expected)


@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_rounding_at_the_ends(dtype: np.dtype[Any]) -> None:
    """Law: from the middle of the last step up, values overflow; zeros keep their sign."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    largest, step = float(info.max), float(info.max) * float(info.eps)
    ulp = 2.0 ** math.floor(math.log2(step))
    limit = largest + ulp / 2
    values = np.array([np.nextafter(limit, 0), limit, 1e300, np.inf, -1e-300, -0.0, np.nan])
    expected = np.array([largest, np.inf, np.inf, np.inf, -0.0, -0.0, np.nan]).astype(dtype)
    got = reference.round_to(values, dtype)
    assert (ordinal(got) == ordinal(expected))[:-1].all()
    assert np.isnan(got[-1])
    assert np.signbit(got[4:6]).all()


def test_rounding_to_integers_and_complex() -> None:
    """Law: integers truncate and saturate; complex values get an imaginary part of +0."""
    values = np.array([-1.9, 1.9, 127.99, 128.0, -128.9, -129.5, 1e30, -np.inf, np.nan])
    got = reference.round_to(values, np.int8)
    assert got.dtype == np.int8
    assert got.tolist() == [-1, 1, 127, 127, -128, -128, 127, -128, 0]
    edge = reference.round_to(np.array([2.0**63, -(2.0**63), 2.0**63 - 1024]), np.int64)
    assert edge.tolist() == [2**63 - 1, -(2**63), 2**63 - 1024]
    third = reference.round_to(np.array(1 / 3), np.complex64)
    assert third.dtype == np.complex64
    assert third.real == np.float32(1 / 3)
    assert same_bits(third.imag.copy(), np.array(0, np.float32))
    with pytest.raises(TypeError, match="round_to"):
        reference.round_to(values, np.bool_)


def test_distances() -> None:
    """Law: the yardstick itself: neighbours are 1 apart, across zero and up to infinity too."""
    tiny, largest = np.float32(1e-45), np.finfo(np.float32).max
    computed = np.array([1, 1, -tiny, largest, np.nan, np.nan, -0.0], np.float32)
    exact = np.array([1, 1 + 2**-23, float(tiny), np.inf, np.nan, 1, 0.0])
    assert distance(computed, exact).tolist() == [0, 1, 2, 1, 0, np.inf, 0]
    assert distance(computed, exact, zero_sign=True)[-1] == np.inf
    near = 1 + 2**-25
    got = np.array([1, 1 + 2**-23, 1 - 2**-24], np.float32)
    assert faithful(got, np.full(3, near)).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("shape", "size", "layout"),
    [
        ((1, 1, 2, 2), (2, 2, 2), "NCDHW"),
        ((1, 1, 2, 2, 0), (2, 2, 2), "NCDHW"),
        ((1, 1, 2, 2, 2), (2, 2), "NCDHW"),
        ((1, 1, 2, 2, 2), (2, 0, 2), "NCDHW"),
        ((1, 1, 2, 2, 2), (2, 2, 2), "XX"),
    ],
)
def test_upsample_forward_of_sizes_that_are_none(
    shape: tuple[int, ...], size: tuple[int, ...], layout: str
) -> None:
    """Law: the definition computes nothing where the contract defines nothing."""
    with pytest.raises(ValueError, match=r"^upsample_nearest3d: "):
        reference.upsample_nearest3d(np.ones(shape, np.float32), size, format=layout)


@pytest.mark.parametrize(
    ("sizes", "layout"),
    [
        (((2, 2, 2), (1, 1, 0, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 1, -1, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 1, 1, 1)), "NCDHW"),
        (((2, 2, 3), (1, 1, 1, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 3, 1, 1, 1)), "NCDHW"),
        (((2, 2, 2), (1, 1, 1, 1, 1)), "XX"),
    ],
)
def test_upsample_of_sizes_that_do_not_belong(
    sizes: tuple[tuple[int, ...], tuple[int, ...]], layout: str
) -> None:
    """Law: the definition computes nothing where the contract defines nothing."""
    grad = np.ones((1, 1, 2, 2, 2), np.float32)
    with pytest.raises(ValueError, match=r"^upsample_nearest3d_backward: "):
        reference.upsample_nearest3d_backward(grad, *sizes, format=layout)
