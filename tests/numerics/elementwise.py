# SPDX-License-Identifier: Apache-2.0
"""The elementwise operators with their inputs, by the ranges of the accuracy table.

- "all bits", "every pattern": inputs from the whole type, float32's in steps; beta, alpha and the
  gradient's scales from 1e-10 to 1e10
- "wide scalars": scalars of either sign from 1e-10 to 1e10
- "near zero": inputs whose result cancels in exp(x) - 1
- "cancelling": results next to -alpha * scale; "near beta": differences next to -beta, 0 and beta
- "exponents": inputs whose exponential neither vanishes nor overflows
- "ordinary": inputs around 0 with common settings
- "specials": all combinations of edge values
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from tests.support import specials as sp
from tests.support.unary import unary_operators

Array = npt.NDArray[Any]
Rng = np.random.Generator
# Inputs, and the numbers that the call takes besides.
Batch = tuple[list[Array], tuple[Any, ...]]
Draw = Callable[[Rng, "np.dtype[Any]"], Iterator[Batch]]

SCALARS = [
    (1.0, 1.0, 1.0),
    (1.6732632423543772, 1.0507009873554805, 1.0),
    (1.25, 0.75, 1.0),
    (0.5, 2.0, 0.25),
    (3.7, 0.1, 5.3),
]
ODD = [(1.0, 1.0, -1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0)]
LAMBDA_ALPHA = 1.7580993408473769


@dataclass(frozen=True)
class Formula:
    """An operator's call, as softnpu and its definition have it, and its inputs."""

    name: str
    inputs: int
    call: Callable[..., Array]  # of the function, inputs and settings
    ranges: dict[str, Draw]
    settings: st.SearchStrategy[tuple[Any, ...]]  # with which no FLOAT result is 2 ULP off
    casts: tuple[tuple[Any, ...], ...] = ()  # whose results in other types are to be looked at

    def on(self, functions: ModuleType, inputs: list[Array], settings: Any, **out: Any) -> Array:
        """What a module's function makes of the inputs."""
        return self.call(getattr(functions, self.name), *inputs, *settings, **out)


def _patterns(dtype: np.dtype[Any], step: int) -> Array:
    if dtype.itemsize == 2:
        return sp.every_bit_pattern(dtype)
    return np.arange(0, 1 << 32, step, np.uint64).astype(np.uint32).view(np.float32)


def _pattern(settings: list[Any], step: int = 2039) -> Draw:
    """All 65536 inputs of a 16-bit type, or so many of float32 that are evenly spread."""
    return lambda _, dtype: (([_patterns(dtype, step)], each) for each in settings)


def _special(inputs: int, settings: list[Any]) -> Draw:
    """All combinations of edge values."""

    def draw(_: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
        combined = sp.all_pairs(*[sp.specials(dtype)] * inputs)
        yield from ((combined, each) for each in settings)

    return draw


def _near_zero(settings: list[Any]) -> Draw:
    """Inputs between -0.7 and 0, of every size down to the smallest."""

    def draw(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
        x = -0.7 * rng.random(500_000) * 10.0 ** -rng.integers(0, 8, 500_000)
        yield from (([x.astype(np.float32).astype(dtype)], each) for each in settings)

    return draw


def _wide_scalars(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    for _ in range(40):
        signs = rng.choice([-1.0, 1.0], 3)
        scalars = tuple(sp.random_scalar(rng) * float(sign) for sign in signs)
        yield [sp.random_bits(rng, (25_000,), dtype)], scalars


def _gradients_scalars(rng: Rng) -> tuple[float, float, float]:
    """Alpha at least 0, scale and input_scale of either sign, between 1e-10 and 1e10."""
    signs = rng.choice([-1.0, 1.0], 2)
    alpha, scale, input_scale = (sp.random_scalar(rng) for _ in range(3))
    return alpha, scale * float(signs[0]), input_scale * float(signs[1])


def _elu_all_bits(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    for _ in range(40):
        yield [*sp.random_bits(rng, (2, 25_000), dtype)], _gradients_scalars(rng)


def _elu_patterns(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    x = sp.every_bit_pattern(dtype)
    for grad in (1.0, -0.7, 3e-5, 1000.0):
        for scalars in [*SCALARS, _gradients_scalars(rng), _gradients_scalars(rng)]:
            yield [np.full_like(x, grad), x], scalars


def _elu_cancelling(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Results within a few steps of -alpha*scale, where the slope loses its leading digits."""
    for _ in range(400):
        alpha, scale = sp.random_scalar(rng, -3, 3), sp.random_scalar(rng, -1, 1)
        x = sp.neighbours([-alpha * scale], dtype, 40)
        g = sp.random_values(rng, x.shape, dtype)
        yield [g, x], (alpha, scale, sp.random_scalar(rng, -2, 2))


def _elu_exponents(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Inputs with x * input_scale between -110 and 95, for any input_scale."""
    for _ in range(40):
        alpha, scale, k = _gradients_scalars(rng)
        if dtype == sp.FLOAT16:  # its inputs would not reach far enough
            k = float(np.copysign(sp.random_scalar(rng, -2, 2), k))
        # x is not above 0, so the exponent has the opposite sign of input_scale.
        exponent = rng.uniform(-110, 0, 25_000) if k > 0 else rng.uniform(0, 95, 25_000)
        x = (exponent / k).astype(np.float32).astype(dtype)
        yield [sp.random_values(rng, x.shape, dtype), x], (alpha, scale, k)


def _elu_ordinary(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    for scalars in SCALARS:
        yield [*sp.random_values(rng, (2, 250_000), dtype)], scalars


def _elu_specials(_: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    """Values next to -alpha*scale among them."""
    for scalars in SCALARS + ODD:
        near = [-scalars[0] * scalars[1]] if scalars[0] * scalars[1] else [-1.0]
        x = np.concatenate([sp.specials(dtype), sp.neighbours(near, dtype)])
        yield sp.all_pairs(sp.specials(dtype), x), scalars


def _selu_all_bits(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    yield [*sp.random_bits(rng, (2, 1_000_000), dtype)], ()


def _selu_patterns(_: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    y = sp.every_bit_pattern(dtype)
    for grad in (1.0, -0.7, 3e-5, 1000.0, 0.01, 60000.0):
        yield [np.full_like(y, grad), y], ()


def _selu_cancelling(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    for _ in range(20):
        y = sp.neighbours([-LAMBDA_ALPHA], dtype, 100)
        yield [sp.random_values(rng, y.shape, dtype), y], ()


def _selu_ordinary(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    g, y = sp.random_values(rng, (2, 1_000_000), dtype)
    yield [g, np.maximum(y, np.array(-1.7578125, dtype))], ()


def _selu_specials(_: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
    y = np.concatenate([sp.specials(dtype), sp.neighbours([-LAMBDA_ALPHA], dtype)])
    yield sp.all_pairs(sp.specials(dtype), y), ()


def _loss_ranges(inputs: int, grads: tuple[float, ...]) -> dict[str, Draw]:
    """Those of the loss, or of its gradient, whose first input is gradOut."""

    def all_bits(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
        for _ in range(40):
            *rest, b = sp.random_bits(rng, (inputs, 25_000), dtype)
            yield [*rest, b], (sp.random_scalar(rng),)
            some = np.where(rng.random(b.shape) < 0.5, b, np.zeros_like(b))
            yield [*rest, some], (sp.random_scalar(rng),)

    def every_pattern(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
        a = sp.every_bit_pattern(dtype)
        betas = (0.0, 1.0, 0.3, sp.random_scalar(rng))
        for grad, target, beta in itertools.product(grads, (0.0, 0.5, -100.0), betas):
            given = [np.full_like(a, grad), a, np.full_like(a, target)]
            yield given[-inputs:], (beta,)

    def near_beta(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
        for beta in [0.5, 1.0, 2.5, *(sp.random_scalar(rng, -4, 4) for _ in range(50))]:
            a = np.concatenate([sp.neighbours([-beta, beta], dtype, 20), sp.specials(dtype)[:3]])
            a = np.concatenate([a, a, np.array([beta, -beta], np.float32).astype(dtype)])
            b = np.zeros_like(a)
            b[: a.size // 2] = sp.random_values(rng, a.size // 2, dtype, 1e-3)
            yield [sp.random_values(rng, a.shape, dtype), a, b][-inputs:], (beta,)

    def ordinary(rng: Rng, dtype: np.dtype[Any]) -> Iterator[Batch]:
        for beta in (1.0, 0.1, 3.0, 7.3):
            yield [*sp.random_values(rng, (inputs, 250_000), dtype)], (beta,)

    # Overflowing differences, infinite and zero betas too.
    largest = float(np.finfo(np.float32).max)
    edges = (0.0, 1e-45, 1e-38, 2.0**-60, 1.0, 2.0, 2.0**60, largest, float("inf"))
    return {
        "all bits": all_bits,
        "every pattern": every_pattern,
        "near beta": near_beta,
        "ordinary": ordinary,
        "specials": _special(inputs, [(beta,) for beta in edges]),
    }


NEGATIVE = [*SCALARS, (-1.25, 0.75, 1.0)]
ANY = st.floats(-1e10, 1e10, width=32)
NOT_NEGATIVE = st.floats(0, 1e10, width=32)
NUMBERS = [(), (0.25,), (-1.5,), (0.0,), (np.inf,), (np.nan,)]
BETA = st.floats(0, width=32)

FORMULAS = [
    Formula(
        "elu",
        1,
        lambda f, x, *scalars, **out: f(x, *scalars, **out),
        {
            "every pattern": _pattern(NEGATIVE),
            "near zero": _near_zero(NEGATIVE),
            "wide scalars": _wide_scalars,
            "specials": _special(1, NEGATIVE + ODD),
        },
        st.tuples(ANY, ANY, ANY),
        casts=((1.25, 0.75, 1.0), (1.5, 0.7, 1.3)),
    ),
    Formula(
        "elu_backward",
        2,
        # Its branches have ranges of their own.
        lambda f, g, x, *s, **out: f(g, *s[1:], s[0] in (True, "result"), x, **out),
        {
            "all bits": _elu_all_bits,
            "every pattern": _elu_patterns,
            "cancelling": _elu_cancelling,
            "exponents": _elu_exponents,
            "ordinary": _elu_ordinary,
            "specials": _elu_specials,
        },
        st.tuples(st.booleans(), NOT_NEGATIVE, NOT_NEGATIVE, NOT_NEGATIVE),
        casts=((True, 1.5, 0.7, 1.3),),
    ),
    Formula(
        "selu",
        1,
        lambda f, x, **out: f(x, **out),
        {
            "every pattern": _pattern([()], 509),
            "near zero": _near_zero([()]),
            "specials": _special(1, [()]),
        },
        st.just(()),
    ),
    Formula(
        "selu_backward",
        2,
        lambda f, g, y, **out: f(g, y, **out),
        {
            "all bits": _selu_all_bits,
            "every pattern": _selu_patterns,
            "cancelling": _selu_cancelling,
            "ordinary": _selu_ordinary,
            "specials": _selu_specials,
        },
        st.just(()),
    ),
    Formula(
        "smooth_l1_loss",
        2,
        lambda f, a, b, *settings, **out: f(a, b, *settings, **out),
        _loss_ranges(2, (1.0,)),
        st.tuples(st.sampled_from([0, 1, 2]), BETA),
        casts=(("none", 1.5), ("mean", 1.5)),
    ),
    Formula(
        "smooth_l1_loss_backward",
        3,
        lambda f, g, a, b, *settings, **out: f(g, a, b, *settings, **out),
        _loss_ranges(3, (1.0, -0.7, 3e-5, 1000.0)),
        st.tuples(st.sampled_from([0, 1, 2]), BETA),
        casts=(("none", 1.5),),
    ),
    *(
        Formula(
            one.name,
            1,
            lambda f, x, *numbers, **out: f(x, *numbers, **out),
            {
                "every pattern": lambda rng, dtype: itertools.chain(
                    _pattern(NUMBERS)(rng, dtype), _special(1, NUMBERS)(rng, dtype)
                )
            },
            st.just(()),
        )
        for one in unary_operators()
    ),
]
BY_NAME = {formula.name: formula for formula in FORMULAS}
