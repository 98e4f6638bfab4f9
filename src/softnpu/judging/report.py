# SPDX-License-Identifier: Apache-2.0
"""The result of `softnpu.verify`: the verdict, the errors, and the worst elements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from softnpu.judging.sources import inputs_at, number

if TYPE_CHECKING:
    from softnpu.judging.accuracy import Promise
    from softnpu.judging.case import Case
    from softnpu.judging.judge import Errors

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Element:
    """One element of a result.

    Attributes
    ----------
    index : tuple of int
        For complex results, the last number is 0 for the real and 1 for the imaginary part.
    inputs : dict
        The inputs that it was computed from, by name and, if it differs, index.
    expected, got : number
    reference : float
        The definition in float64; `expected` is the rounded value.
    ulp, absolute : float
        The distances of `got` from `expected` in ULP and from `reference`.
    ok : bool
        Whether it satisfies the verdict's criterion.
    """

    index: tuple[int, ...]
    inputs: dict[str, Any]
    expected: float
    got: float
    reference: float
    ulp: float
    absolute: float
    ok: bool


@dataclass(frozen=True)
class Report:
    """The comparison of a result with the definition.

    Maxima and means leave out elements where one side is NaN; maxima of absolute and relative
    errors also leave out infinities.

    Attributes
    ----------
    ok : bool
        The verdict: all elements are within the tolerances or, if none were given, the documented
        accuracy.
    operator, output : str
        Documented names.
    dtype, unit : str
        The type of the result, and the type that defines the ULP.
    shape : tuple of int
    elements : int
        The number of compared elements; parts of complex numbers count separately.
    max_ulp, mean_ulp, max_absolute, max_relative : float
    correctly_rounded : float
        The share of elements that equal the definition rounded once.
    nan, infinity, zero_sign : int
        The number of elements where only one side is NaN; is infinite; zeros have different signs.
    accuracy : str
        The documented accuracy in words.
    outside_accuracy : int
        The number of elements that are less accurate.
    tolerances : dict
        The given tolerances.
    outside_tolerances : int or None
        The number of elements that exceed them; None if none were given.
    histogram : dict
        The number of elements by their error in ULP: "0", "1", "2", "3-4", "5-8", ..., "NaN".
    worst : tuple of Element
        The worst elements; those that do not pass come first.
    errors : Errors
        The errors of every element, as arrays.
    """

    ok: bool
    operator: str
    output: str
    dtype: str
    unit: str
    shape: tuple[int, ...]
    elements: int
    max_ulp: float
    mean_ulp: float
    max_absolute: float
    max_relative: float
    correctly_rounded: float
    nan: int
    infinity: int
    zero_sign: int
    accuracy: str
    outside_accuracy: int
    tolerances: dict[str, float]
    outside_tolerances: int | None
    histogram: dict[str, int]
    worst: tuple[Element, ...]
    errors: Errors = field(repr=False, compare=False)

    def __str__(self) -> str:
        """Return the text that ``softnpu verify`` prints."""
        from softnpu.judging.render import as_text

        return as_text(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of ``softnpu verify --format json``: NaN and infinities are strings."""
        values = {name: value for name, value in vars(self).items() if name != "errors"}
        values["worst"] = [vars(element) for element in self.worst]
        plain: dict[str, Any] = _plain(values)
        return plain


def report(
    case: Case,
    errors: Errors,
    promise: Promise,
    documented: Flags,
    tolerances: dict[str, float],
    tolerated: Flags | None,
    worst: int,
) -> Report:
    """Create a report from the measured errors."""
    passes = documented if tolerated is None else tolerated
    numbers = np.isfinite(errors.ulp)
    return Report(
        ok=bool(passes.all()),
        operator=case.contract.operator,
        output=case.result_name,
        dtype=case.got.dtype.name,
        unit=promise.unit.name,
        shape=case.got.shape,
        elements=errors.ulp.size,
        max_ulp=float(errors.ulp[numbers].max(initial=0)),
        mean_ulp=float(errors.ulp[numbers].mean()) if numbers.any() else 0.0,
        max_absolute=_largest(errors.absolute),
        max_relative=_largest(errors.relative),
        correctly_rounded=_share((errors.ulp == 0) & ~errors.zero_sign),
        nan=int(errors.nan.sum()),
        infinity=int(errors.infinity.sum()),
        zero_sign=int(errors.zero_sign.sum()),
        accuracy=str(promise),
        outside_accuracy=int((~documented).sum()),
        tolerances=tolerances,
        outside_tolerances=None if tolerated is None else int((~tolerated).sum()),
        histogram=_histogram(errors.ulp),
        worst=tuple(_worst(case, errors, passes, worst)),
        errors=errors,
    )


def _largest(values: npt.NDArray[np.float64]) -> float:
    return float(values[np.isfinite(values)].max(initial=0))


def _share(flags: Flags) -> float:
    return float(flags.mean()) if flags.size else 1.0


def _histogram(steps: npt.NDArray[np.float64]) -> dict[str, int]:
    """Count distances in classes by powers of two, without empty classes."""
    finite = steps[np.isfinite(steps)]
    # frexp's exponent of steps - 1: 1 is in class 0, 2 in class 1, 3 and 4 in class 2.
    classes = np.where(finite > 0, np.frexp(finite - 1)[1], -1)
    numbers, counts = np.unique(classes, return_counts=True)
    names = map(_class_name, numbers.tolist())
    found = dict(zip(names, counts.tolist(), strict=True))
    beyond = steps.size - finite.size
    return {**found, "NaN": beyond} if beyond else found


def _class_name(number: int) -> str:
    if number < 2:
        return str(number + 1)
    return f"{2 ** (number - 1) + 1}-{2**number}"


def _worst(case: Case, errors: Errors, passes: Flags, count: int) -> list[Element]:
    """List the elements with errors: first those that do not pass, then by distance."""
    off = np.flatnonzero(~passes | (errors.ulp > 0) | errors.zero_sign)
    distance = np.where(errors.zero_sign, np.inf, errors.ulp).ravel()[off]
    order = np.lexsort([off, -errors.absolute.ravel()[off], -distance, passes.ravel()[off]])
    flat = [int(place) for place in off[order[:count]]]
    indices = [tuple(map(int, np.unravel_index(i, errors.ulp.shape))) for i in flat]
    inputs = inputs_at(case, [index[: case.got.ndim] for index in indices])
    return [
        Element(
            index,
            given,
            number(errors.expected[index]),
            number(errors.got[index]),
            float(errors.reference[index]),
            float(errors.ulp[index]),
            float(errors.absolute[index]),
            bool(passes[index]),
        )
        for index, given in zip(indices, inputs, strict=True)
    ]


def _plain(value: Any) -> Any:
    """Convert values to types that JSON supports."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    return value
