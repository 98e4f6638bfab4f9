# SPDX-License-Identifier: Apache-2.0
"""What `softnpu.verify` returns: the verdict, how far off the result is, and where."""

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
        Of complex results, the last number is 0 for the real part and 1 for the imaginary part.
    inputs : dict
        The inputs that it was computed from, by names and, where it is another, index.
    expected, got : number
    reference : float
        The definition in float64, of which `expected` is the rounded value.
    ulp, absolute : float
        The distances of `got` from `expected` in ULP and from `reference`.
    ok : bool
        Whether the verdict's criterion holds for it.
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
    """How a result compares with the definition.

    Largest errors and means are those of elements where neither side is NaN; largest absolute and
    relative errors also leave out what is infinite.

    Attributes
    ----------
    ok : bool
        The verdict: all elements are within the tolerances, or, where none were given, within the
        documented accuracy.
    operator, output : str
        Documented names.
    dtype, unit : str
        The type of the result, and the one whose steps are the ULP.
    shape : tuple of int
    elements : int
        How many elements were compared; parts of complex ones count by themselves.
    max_ulp, mean_ulp, max_absolute, max_relative : float
    correctly_rounded : float
        The share of elements that are the definition rounded once.
    nan, infinity, zero_sign : int
        Where only one side is NaN; where that is infinity; where zeros have different signs.
    accuracy : str
        The documented accuracy in words.
    outside_accuracy : int
        How many elements are less accurate than that.
    tolerances : dict
        Those that were given.
    outside_tolerances : int or None
        How many elements exceed them; None where none were given.
    histogram : dict
        How many elements are so many ULP off: "0", "1", "2", "3-4", "5-8" and so on, "NaN".
    worst : tuple of Element
        The worst elements, those first that do not pass.
    errors : Errors
        Every element's, as arrays.
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
        """Make the text that ``softnpu verify`` prints."""
        from softnpu.judging.render import as_text

        return as_text(self)

    def as_dict(self) -> dict[str, Any]:
        """Make what ``softnpu verify --format json`` prints: NaN and infinities become texts."""
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
    """Make a report of what was measured."""
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
    """Count distances in classes that grow by powers of two; empty classes are left out."""
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
    """List the elements that are off: those that do not pass, then by their distance."""
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
    """Make what JSON can hold."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    return value
