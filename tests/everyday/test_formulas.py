# SPDX-License-Identifier: Apache-2.0
"""Everyday operators whose description has a formula, against NumPy in float64 and int64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from softnpu import _core
from softnpu.errors import ParamInvalidError, ParamNullptrError
from softnpu.judging.ulp import between
from tests.everyday import references as ref
from tests.everyday.arrays import FLOATS, WHOLES
from tests.support.described import call

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, 1.0, -1.0, 0.5, 2.5, -3.0]
SHAPE = (3, 4, 5)

# name, formula, number of tensors, scalars
CASES: list[tuple[str, Callable[..., Any], int, tuple[float, ...]]] = [
    *((name, f, 1, ()) for name, f in ref.UNARY.items()),
    *((name, f, 2, ()) for name, f in ref.BINARY.items()),
    *((name, f, 3, (2.0,) if name.startswith("Addc") else ()) for name, f in ref.TERNARY.items()),
    *((name, f, 1, scalars) for name, (f, scalars) in ref.WITH_SCALARS.items()),
    *((name, f, 2, scalars) for name, (f, scalars) in ref.TWO_WITH_SCALARS.items()),
]
# What is rounded inside of these (the argument of erfc, for one) is magnified by the result.
MAGNIFYING = {"Gelu", "GeluBackward", "Mish", "MishBackward", "LogAddExp", "LogAddExp2"}
IDS = [case[0] for case in CASES]


def of_cases(fits: Callable[[str], bool]) -> pytest.MarkDecorator:
    """Run a test for the operators whose names fit."""
    chosen = [case for case in CASES if fits(case[0])]
    names = ("name", "formula", "tensors", "scalars")
    return pytest.mark.parametrize(names, chosen, ids=[case[0] for case in chosen])


def takes_floats(name: str) -> bool:
    """Whether it is not one of integers alone."""
    return not name.startswith("Bitwise")


def has_in_place_form(name: str) -> bool:
    """Whether softnpu has one."""
    return f"aclnnInplace{name}" in _core.described_names()


def data(dtype: np.dtype[Any], shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Make an array of small numbers."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 9, shape).astype(dtype)
    return (rng.standard_normal(shape) * 2).astype(dtype)


def layouts(dtype: np.dtype[Any], seed: int) -> list[np.ndarray]:
    """One shape as contiguous, transposed, sliced with an offset, and broadcast memory."""
    return [
        data(dtype, SHAPE, seed),
        data(dtype, SHAPE[::-1], seed).transpose(2, 1, 0),
        data(dtype, (5, 4, 12), seed)[1:4, :, 1:11:2],
        np.broadcast_to(data(dtype, (4, 1), seed), SHAPE),
    ]


def expected(formula: Callable[..., Any], arrays: list[np.ndarray], scalars: Any, out: Any) -> Any:
    """Compute in float64, or in int64 if everything is an integer, and round once."""
    whole = all(a.dtype.kind in "iub" for a in arrays) and all(s == int(s) for s in scalars)
    wide = np.int64 if whole else np.float64
    values = formula(*(a.astype(wide) for a in arrays), *map(wide, scalars))
    return np.asarray(values).astype(out) if out.kind != "b" else np.asarray(values) != 0


def assert_close(got: np.ndarray, wanted: np.ndarray, ulps: int) -> None:
    """Compare integers exactly, floats by their distance."""
    assert got.shape == wanted.shape
    if got.dtype.kind in "iub":
        np.testing.assert_array_equal(got, wanted)
    else:
        assert np.array_equal(np.isnan(got), np.isnan(wanted))
        number = ~np.isnan(wanted)
        assert np.max(between(got[number], wanted[number]), initial=0) <= ulps


@of_cases(takes_floats)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats(name: str, formula: Any, tensors: int, scalars: Any, dtype: Any) -> None:
    """Law: within one unit of the result that is rounded once, in every layout."""
    for number in range(4):
        arrays = [layouts(dtype, seed)[(number + seed) % 4] for seed in range(tensors)]
        out = (
            np.zeros(SHAPE[::-1], dtype).transpose(2, 1, 0)
            if number == 1
            else np.zeros(SHAPE, dtype)
        )
        call(name, *arrays, *scalars, out)
        ulps = 1 if dtype.itemsize < 8 else 1024 if name in MAGNIFYING else 4
        assert_close(out, expected(formula, arrays, scalars, dtype), ulps)


# NumPy's quotients of infinite numbers are its own.
@of_cases(lambda name: takes_floats(name) and not name.startswith("FloorDivide"))
def test_special_values(name: str, formula: Any, tensors: int, scalars: Any) -> None:
    """Law: zeros, infinities, NaN and the smallest numbers, in all pairs."""
    grid = np.meshgrid(*[np.float32(SPECIAL)] * tensors)
    arrays = [each.reshape(-1) for each in grid]
    out = np.zeros(arrays[0].shape, np.float32)
    call(name, *arrays, *scalars, out)
    assert_close(out, expected(formula, arrays, scalars, out.dtype), 1)


@of_cases(lambda _name: True)
@pytest.mark.parametrize("dtype", WHOLES, ids=str)
def test_integers(name: str, formula: Any, tensors: int, scalars: Any, dtype: Any) -> None:
    """Law: results of integers are exact, whatever the output's type."""
    arrays = [data(dtype, SHAPE, seed) for seed in range(tensors)]
    if "Div" in name or "mod" in name or "Remainder" in name or "Pow" in name:
        arrays = [arrays[0], *(np.abs(a.astype("i2")).clip(1, 3).astype(dtype) for a in arrays[1:])]
    whole = tuple(int(s) if s == int(s) else s for s in scalars)
    for out_type in (np.dtype("f4"), np.dtype("i8")):
        out = np.zeros(SHAPE, out_type)
        wanted = expected(formula, arrays, whole, np.dtype("f8"))
        if out_type.kind == "i" and not np.all(np.isfinite(wanted)):
            continue
        call(name, *arrays, *whole, out)
        if out_type.kind == "i":
            wanted = np.trunc(wanted)
        assert_close(out, wanted.astype(out_type), 1)


@of_cases(lambda name: takes_floats(name) and has_in_place_form(name))
def test_in_place(name: str, formula: Any, tensors: int, scalars: Any) -> None:
    """Law: the in-place form gives the same, with inputs that are broadcast."""
    arrays = [
        data(np.dtype("f4"), SHAPE, 0),
        *(data(np.dtype("f4"), (5,), s) for s in range(1, tensors)),
    ]
    wanted = expected(formula, arrays, scalars, np.dtype("f4"))
    call(f"Inplace{name}", *arrays, *scalars)
    assert_close(arrays[0], wanted, 1)


@pytest.mark.parametrize(
    ("name", "tensors", "scalars"), [(name, t, s) for name, _, t, s in CASES], ids=IDS
)
def test_mistakes(name: str, tensors: int, scalars: Any) -> None:
    """Law: null and a wrong output shape are reported."""
    arrays = [data(np.dtype("i4"), SHAPE, s) for s in range(tensors)]
    with pytest.raises(ParamNullptrError, match=r"(out|gradInput) is null"):
        call(name, *arrays, *scalars, None)
    with pytest.raises(ParamInvalidError, match="has shape"):
        call(name, *arrays, *scalars, np.zeros((3, 4), np.float32))


@pytest.mark.torch
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gamma_functions(dtype: Any) -> None:
    """Digamma and the logarithm of gamma: poles, reflected numbers, zeros, and large numbers."""
    torch = pytest.importorskip("torch")
    numbers = [0.0, -0.0, -3.0, np.inf, -np.inf, np.nan, 1.0, 2.0, 0.5, -0.5, -2.25, 4.75, 300.0]
    x = np.array([*numbers, *np.linspace(-5, 15, 91)]).astype(dtype)
    wide = torch.from_numpy(x.astype(float))
    for name, wanted in (("Digamma", torch.digamma(wide)), ("Lgamma", torch.lgamma(wide))):
        out = np.zeros_like(x)
        call(name, x, out)
        rtol = max(1e-12, 2.0 * float(ml_dtypes.finfo(dtype).eps))
        np.testing.assert_allclose(out.astype(float), wanted.numpy(), rtol=rtol, atol=1e-14)


@pytest.mark.parametrize("equal_nan", [False, True])
def test_closeness(equal_nan: bool) -> None:
    """As numpy.isclose, with inputs that are broadcast, and equal or opposite infinities."""
    x = np.float32(SPECIAL)
    y = np.append(x, np.float32([1.01, 0.511, 2.6]))[:, None]
    out = np.zeros((15, 12), "?")
    call("IsClose", x, y, 0.01, 0.001, equal_nan, out)
    np.testing.assert_array_equal(out, np.isclose(x, y, 0.01, 0.001, equal_nan))
    with pytest.raises(ParamInvalidError, match="cannot be broadcast"):
        call("IsClose", x, np.zeros(5, "f4"), 0.01, 0.001, equal_nan, out)
