# SPDX-License-Identifier: Apache-2.0
"""What `softnpu.verify` measures, and where the verdict changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import softnpu
from softnpu import contract as contracts
from softnpu.arguments import Reduction
from softnpu.judging.ulp import between
from tests.python.judged import (
    ELU,
    changed,
    computed,
    right_case,
    small,
)


def test_fields_of_a_right_result() -> None:
    """Law: a result without errors has none in any field."""
    report = softnpu.verify("elu_backward", small())
    assert report.ok
    assert (report.output, report.dtype, report.shape) == ("gradInput", "float32", (2, 2))
    assert (report.max_ulp, report.mean_ulp, report.correctly_rounded) == (0, 0, 1)
    assert (report.max_absolute, report.max_relative) == (0, 0)
    assert (report.nan, report.infinity, report.zero_sign) == (0, 0, 0)
    assert (report.outside_accuracy, report.outside_tolerances) == (0, None)
    assert report.histogram == {"0": 4}
    assert report.worst == ()
    assert "passes" in str(report)


def test_errors_are_measured() -> None:
    """Law: each measure is what its name says."""
    report = softnpu.verify(ELU, changed(1 + 2.0**-20))
    assert not report.ok
    assert (report.max_ulp, report.mean_ulp, report.correctly_rounded) == (8, 2, 0.75)
    assert report.max_absolute == report.max_relative == 2.0**-20
    assert report.histogram == {"0": 3, "5-8": 1}
    (worst,) = report.worst
    assert (worst.index, worst.expected, worst.got) == ((0, 1), 1, 1 + 2.0**-20)
    assert worst.inputs == {"gradOutput": 1, "selfOrResult": 2}
    assert (worst.ulp, worst.absolute, worst.reference, worst.ok) == (8, 2.0**-20, 1, False)
    assert report.errors.ulp.tolist() == [[0, 8], [0, 0]]


def test_nan_for_a_number() -> None:
    """Law: a NaN where a number should be fails, whatever the tolerances."""
    for tolerances in ({}, {"rtol": 1e30}, {"atol": 1e30}, {"ulp": 1e30}):
        report = softnpu.verify(ELU, changed(np.nan), **tolerances)
        assert (report.ok, report.nan, report.histogram) == (False, 1, {"0": 3, "NaN": 1})
        assert math.isinf(report.worst[0].ulp)


def test_number_for_nan_and_nan_for_nan() -> None:
    """Law: where the definition is NaN, any NaN passes, and no number does."""
    case = small(gradOutput=np.array([[1, np.nan], [1, 1]], np.float32))
    assert softnpu.verify(ELU, case).nan == 1
    case["gradInput"].view(np.uint32)[0, 1] = 0xFFC01234
    assert softnpu.verify(ELU, case).ok


def test_infinities() -> None:
    """Law: an infinity of the other sign, or for a number, is a mismatch; the right one is none."""
    report = softnpu.verify(ELU, changed(np.inf))
    assert (report.ok, report.infinity) == (False, 1)
    assert not softnpu.verify(ELU, changed(np.inf), rtol=0.5, atol=1e30).ok
    case = changed(np.inf)
    case["gradOutput"] = np.array([[1, np.inf], [1, 1]], np.float32)
    assert softnpu.verify(ELU, case).ok
    assert softnpu.verify(ELU, case, rtol=0, atol=0).ok
    case["gradInput"][0, 1] = -np.inf
    report = softnpu.verify(ELU, case, rtol=0.5)
    assert (report.ok, report.infinity) == (False, 1)


def test_an_overflow_is_right() -> None:
    """Law: infinity is what a definition beyond the type's range is rounded to."""
    case = small(gradOutput=np.full((2, 2), 3e38, np.float32), scale=2.0, alpha=0.0)
    case["gradInput"] = computed(contracts.find(ELU), {n: case[n] for n in list(case)[:-1]})
    assert np.isinf(case["gradInput"]).any()
    report = softnpu.verify(ELU, case)
    assert (report.ok, report.max_absolute < 1e35) == (True, True)
    assert softnpu.verify(ELU, case, rtol=1e-6).ok


def test_the_sign_of_zero() -> None:
    """Law: -0 for 0 fails by the documented accuracy; tolerances count it only."""
    case = small(gradOutput=np.array([[1, 0], [1, 1]], np.float32))
    case["gradInput"][0, 1] = 0.0
    assert softnpu.verify(ELU, case).ok
    case["gradInput"][0, 1] = -0.0
    report = softnpu.verify(ELU, case)
    assert (report.ok, report.zero_sign, report.max_ulp) == (False, 1, 0)
    assert report.worst[0].index == (0, 1)
    assert "-0" in str(report)
    tolerant = softnpu.verify(ELU, case, ulp=0)
    assert (tolerant.ok, tolerant.zero_sign, tolerant.outside_accuracy) == (True, 1, 1)


@pytest.mark.parametrize(
    ("tolerances", "ok"),
    [
        ({"ulp": 8}, True),
        ({"ulp": 7}, False),
        ({"atol": 2.0**-20}, True),
        ({"atol": 2.0**-20 * 0.999}, False),
        ({"rtol": 2.0**-20}, True),
        ({"rtol": 2.0**-20 * 0.999}, False),
        ({"rtol": 2.0**-21, "atol": 2.0**-21}, True),
        ({"rtol": 2.0**-21, "atol": 2.0**-22}, False),
        ({"ulp": 8, "atol": 0}, False),
        ({"ulp": 7, "atol": 1}, False),
        ({"ulp": 8, "atol": 1}, True),
    ],
)
def test_edges_of_tolerances(tolerances: dict[str, float], ok: bool) -> None:
    """Law: the limit itself passes, what is beyond it fails; all that are given must hold."""
    report = softnpu.verify(ELU, changed(1 + 2.0**-20), **tolerances)
    assert (report.ok, report.outside_tolerances) == (ok, int(not ok))
    assert report.tolerances == tolerances
    assert report.outside_accuracy == 1


def test_tolerances_may_be_stricter() -> None:
    """Law: with tolerances, they alone decide."""
    case = changed(1 + 2.0**-22)
    assert softnpu.verify(ELU, case).ok
    assert not softnpu.verify(ELU, case, ulp=1).ok


def test_16_bit_results_enclose_the_exact_value() -> None:
    """Law: the neighbour on the far side of the exact value is 1 ULP off, and fails."""
    case = right_case("selu_backward", np.float16)
    grad = case["gradOutput"] = np.full(2, 1.1, np.float16)
    case["result"] = np.ones(2, np.float16)
    right = computed(contracts.find("selu_backward"), {"g": grad, "y": case["result"]})
    exact = softnpu.verify("selu_backward", {**case, "gradInput": right}).errors.reference
    away = np.where(right.astype(float) > exact, np.inf, -np.inf).astype(np.float16)
    report = softnpu.verify("selu_backward", {**case, "gradInput": np.nextafter(right, away)})
    assert (report.ok, report.max_ulp) == (False, 1)
    report = softnpu.verify("selu_backward", {**case, "gradInput": np.nextafter(right, -away)})
    assert (report.ok, report.max_ulp) == (True, 1)


@pytest.mark.parametrize("name", ["none", "mean", "sum"])
def test_reductions_have_accuracies_of_their_own(name: Reduction) -> None:
    """Law: a FLOAT mean or sum is within 1 ULP, though single losses are only within 2."""
    limit, code = {"none": (2, 0), "mean": (1, 1), "sum": (1, 2)}[name]
    case = {"self": np.float32([3, 3]), "target": np.float32([1, 1]), "beta": 0.5}
    result = softnpu.smooth_l1_loss(case["self"], case["target"], name, 0.5)
    for steps in range(4):
        for reduction in (name, code):
            given = {**case, "reduction": reduction, "result": result}
            report = softnpu.verify("smooth_l1_loss", given)
            assert (report.max_ulp, report.ok) == (steps, steps <= limit)
        result = np.nextafter(result, np.float32(9))


def test_distances_of_integers_are_differences() -> None:
    """Law: also where the difference leaves the type's range."""
    low, high = np.iinfo(np.int8).min, np.iinfo(np.int8).max
    ends = np.int8([low, high, -1, 5]), np.int8([high, low, 1, 5])
    assert between(*ends).tolist() == [255, 255, 2, 0]
    big = np.int64([np.iinfo(np.int64).min]), np.int64([np.iinfo(np.int64).max])
    assert between(*big).tolist() == [float(2**64 - 1)]
