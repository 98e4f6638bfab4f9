# SPDX-License-Identifier: Apache-2.0
"""The float64 definitions against exact and 50-digit arithmetic, written a second time.

Everything here works element by element with fractions and decimals, and shares no code with the
definitions. A definition may be off by a few float64 roundings; MARGIN says how many.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softnpu import reference
from softnpu.judging.ulp import same_bits

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
