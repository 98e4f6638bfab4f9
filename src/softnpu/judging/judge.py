# SPDX-License-Identifier: Apache-2.0
"""Measures the error of each element of a result, and decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu.judging import accuracy, ulp
from softnpu.judging.case import Case, CaseError
from softnpu.judging.report import Report, report
from softnpu.reference import round_to

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tolerances:
    """The caller's tolerances, which replace the documented accuracy; None if not given."""

    rtol: float | None = None
    atol: float | None = None
    ulp: float | None = None

    def __post_init__(self) -> None:
        for name, value in self.given.items():
            if not 0 <= value < math.inf:
                raise CaseError(
                    f"{name} is {value}; expected a number of 0 or more", rule="case-tolerance"
                )

    @property
    def given(self) -> dict[str, float]:
        """The given tolerances, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Errors:
    """The errors of each element, in arrays of one shape.

    Complex results have an additional last axis: 0 is the real part, 1 the imaginary part.

    Attributes
    ----------
    got, expected : array
        The result, and the definition rounded once.
    reference : array of float64
        The definition before rounding.
    ulp : array of float64
        The distance of `got` from `expected`; infinite if only one of them is NaN.
    absolute, relative : array of float64
        The distance of `got` from `reference`; from `expected` for integers.
    nan, infinity, zero_sign : array of bool
        Whether only one of `got` and `expected` is NaN; is that infinity; whether both are zeros of
        different signs.
    """

    got: Array
    expected: Array
    reference: Floats
    ulp: Floats
    absolute: Floats
    relative: Floats
    nan: Flags
    infinity: Flags
    zero_sign: Flags


def judge(case: Case, tolerances: Tolerances, worst: int) -> Report:
    """Measure a case and decide."""
    try:
        promise = accuracy.promise(case.contract.family, case.got.dtype, case.reduction)
    except LookupError as error:
        raise CaseError(str(error.args[0]), rule="accuracy-unknown") from None
    errors = measure(case, promise.unit)
    documented = _documented(case, errors, promise)
    tolerated = _tolerated(errors, tolerances) if tolerances.given else None
    return report(case, errors, promise, documented, tolerances.given, tolerated, worst)


def measure(case: Case, unit: np.dtype[Any]) -> Errors:
    """Compare a result with the definition, in steps of the type ``unit``."""
    exact, got = case.reference(), case.got
    # Values that are only moved keep their type and all bits, so they must not go through float64.
    expected = exact if exact.dtype == unit else round_to(exact, unit).astype(got.dtype)
    if got.dtype.kind == "c":
        got, expected = _parts(got), _parts(expected)
        exact = np.stack([exact, np.zeros_like(exact)], -1)
    steps = ulp.between(_in_steps_of(unit, got), _in_steps_of(unit, expected))
    with np.errstate(all="ignore"):
        wide, reference = got.astype(np.float64), exact.astype(np.float64)
        absolute = steps if got.dtype.kind in "iu" else np.abs(wide - reference)
        nan = np.isnan(got) ^ np.isnan(expected)
        same = (np.isnan(got) & np.isnan(expected)) | ((got == expected) & np.isinf(wide))
        absolute = np.where(same, 0, np.where(nan, np.inf, absolute))
        relative = np.where(absolute == 0, 0, absolute / np.abs(reference))
        infinite = np.isinf(wide) | np.isinf(expected.astype(np.float64))
    return Errors(
        got,
        expected,
        reference,
        steps,
        absolute,
        relative,
        nan,
        infinite & (got != expected) & ~nan,
        ulp.zero_signs_differ(got, expected),
    )


def _parts(values: Array) -> Array:
    """Split complex numbers into real and imaginary parts, on a new last axis."""
    return np.stack([values.real, values.imag], -1)


def _in_steps_of(unit: np.dtype[Any], values: Array) -> Array:
    return values if values.dtype == unit else round_to(values, unit)


def _documented(case: Case, errors: Errors, promise: accuracy.Promise) -> Flags:
    """Whether each element satisfies the table's bounds."""
    if promise.double_sum:
        within = errors.absolute <= promise.double_sum * _sum_bound(case, errors.reference)
    else:
        within = errors.ulp <= promise.max_ulp
    if promise.faithful:
        within = within & ulp.faithful(errors.got, errors.reference)
    return np.asarray(within & ~errors.zero_sign & ~errors.nan)


def _sum_bound(case: Case, exact: Floats) -> Floats:
    """ceil(log2(n)) * 2**-53 * sum(|x|) of each sum of n terms."""
    ((name, terms), *_) = case.tensors.items()
    with np.errstate(all="ignore"):
        counts = case.reference({name: np.ones_like(terms)})
        weight = case.reference({name: np.abs(terms)})
        bound = np.ceil(np.log2(np.maximum(counts, 1))) * 2.0**-53 * weight
    # If only the weight overflows, another order of adding may overflow, too. If terms are infinite
    # or NaN, IEEE 754 defines the sum.
    overflow = np.where(np.isfinite(exact), np.inf, 0.0)
    return np.asarray(np.where(np.isfinite(weight), bound, overflow))


def _tolerated(errors: Errors, tolerances: Tolerances) -> Flags:
    """Whether each element satisfies all given tolerances."""
    within = ~errors.nan
    if tolerances.ulp is not None:
        within &= errors.ulp <= tolerances.ulp
    if tolerances.rtol is not None or tolerances.atol is not None:
        size = np.abs(errors.reference)
        finite = np.where(np.isfinite(size), size, 0)
        within &= errors.absolute <= (tolerances.atol or 0) + (tolerances.rtol or 0) * finite
    return within
