# SPDX-License-Identifier: Apache-2.0
"""`softnpu.verify` passes what is right, and finds and names what is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import contract as contracts
from softnpu.judging import accuracy
from softnpu.judging.dtypes import NUMPY
from tests.python.judged import (
    CONTRACTS,
    computed,
    inputs_of,
    result_name,
    right_case,
)

TYPES = [
    pytest.param(spec, NUMPY[name], id=f"{spec.operator} {name}")
    for spec in CONTRACTS
    for name in spec.dtypes
]


@pytest.mark.parametrize(("spec", "dtype"), TYPES)
def test_softnpus_own_results_pass(spec: contracts.Contract, dtype: np.dtype[Any]) -> None:
    """Law: every operator's results of every type have the documented accuracy."""
    for reduction in ("none", "mean", "sum") if "SmoothL1" in spec.operator else [None]:
        inputs = inputs_of(spec, dtype)
        if reduction:
            inputs["reduction"] = reduction
        case = {**inputs, result_name(spec): computed(spec, inputs)}
        before = {name: np.copy(value) for name, value in case.items()}
        for name in (spec.operator, spec.python):
            report = softnpu.verify(name, case)
            assert report.ok, str(report)
            assert (report.operator, report.dtype) == (spec.operator, dtype.name)
        # Nothing was written to what was judged.
        assert all(np.array(case[n]).tobytes() == before[n].tobytes() for n in case)


def has_the_inputs_type(spec: contracts.Contract) -> bool:
    """Whether the output must be of the first input's type."""
    rules = [rule["id"] for rule in spec.table["rule"]]
    output = spec.table["argument"][-1]
    return "dtype-differs" in rules and set(output["dtypes"]) == set(spec.dtypes)


OUTPUTS = [
    pytest.param(spec, NUMPY[name], id=f"{spec.operator} {name}")
    for spec in CONTRACTS
    if spec.table["elementwise"] and not has_the_inputs_type(spec)
    if not spec.python.endswith("_")
    for name in spec.table["argument"][-1]["dtypes"]
]


@pytest.mark.parametrize(("spec", "dtype"), OUTPUTS)
def test_results_of_other_types_pass(spec: contracts.Contract, dtype: np.dtype[Any]) -> None:
    """Law: so have results of another type than the inputs', DOUBLE and complex ones among them."""
    inputs = inputs_of(spec, np.dtype(np.float16))
    if "reduction" in inputs:
        inputs["reduction"] = "none"
    shape = np.broadcast_shapes(*(v.shape for v in inputs.values() if isinstance(v, np.ndarray)))
    got = computed(spec, inputs, out=np.empty(shape, dtype))
    report = softnpu.verify(spec.operator, {**inputs, result_name(spec): got})
    assert report.ok, str(report)
    assert report.elements == got.size * (2 if dtype.kind == "c" else 1)


@pytest.mark.parametrize(("spec", "dtype"), TYPES)
def test_a_wrong_element_is_found(spec: contracts.Contract, dtype: np.dtype[Any]) -> None:
    """Law: a flipped bit in one element fails, and the report names the element and its inputs."""
    inputs = inputs_of(spec, dtype)
    got = np.ascontiguousarray(computed(spec, inputs))
    places = np.flatnonzero(np.isfinite(got.astype(np.float64)) & (got != 0))
    place = int(places[len(places) // 2])
    right = got.ravel()[place]
    bits = got.ravel().view(f"u{dtype.itemsize}")
    bits[place] ^= 1 << (8 * dtype.itemsize - 4)
    got = bits.view(dtype).reshape(got.shape)
    report = softnpu.verify(spec.operator, {**inputs, result_name(spec): got})
    assert not report.ok
    assert report.outside_accuracy == 1
    worst = report.worst[0]
    assert worst.index == np.unravel_index(place, got.shape)
    assert (float(worst.got), worst.ok) == (float(got[worst.index]), False)
    assert math.isclose(worst.expected, float(right), rel_tol=0.02)
    assert worst.inputs
    assert str(list(worst.index)) in str(report)
    assert "fails" in str(report)


def test_double_sums() -> None:
    """Law: a DOUBLE sum may be off by ceil(log2(n)) * 2**-53 * sum(|x|)."""
    case = right_case("upsample_nearest3d_backward", np.float64)
    shape = case["gradOut"].shape
    case["gradOut"] = np.ones(shape)
    got = case["gradInput"]
    got[...] = 8.0
    got[0, 1, 0, 1, 1] = np.nextafter(8.0, 9)  # 2 units of 2**-53 * 8; 8 terms may have 3
    assert softnpu.verify("upsample_nearest3d_backward", case).ok
    got[0, 1, 0, 1, 1] = np.nextafter(np.nextafter(8.0, 9), 9)
    report = softnpu.verify("upsample_nearest3d_backward", case)
    assert (report.ok, report.outside_accuracy) == (False, 1)
    assert report.worst[0].inputs == {"gradOut[0, 1, 0:2, 2:4, 2:4]": "8 terms"}


def test_inputs_of_moved_values() -> None:
    """Law: of a value that was copied, the report says from where."""
    case = right_case("upsample_nearest3d")
    case["out"][0, 1, 1, 3, 5] += 1
    source = case["self"][0, 1, 0, 1, 2]
    (worst,) = softnpu.verify("upsample_nearest3d", case).worst
    assert worst.inputs == {"self[0, 1, 0, 1, 2]": source}
    case = right_case("max_unpool3d_backward")
    case["out"][1, 2, 0, 1, 3] += 1
    place = np.unravel_index(case["indices"][1, 2, 0, 1, 3], (2, 3, 4))
    (worst,) = softnpu.verify("max_unpool3d_backward", case).worst
    expected = case["gradOutput"][(1, 2, *place)]
    assert worst.inputs == {f"gradOutput{[1, 2, *map(int, place)]}": expected}
    case = right_case("max_unpool3d")
    empty = tuple(map(int, np.argwhere(case["outRef"] == 0)[0]))
    case["outRef"][empty] = 1
    (worst,) = softnpu.verify("max_unpool3d", case).worst
    assert (worst.index, worst.inputs) == (empty, {})


def test_large_integers_keep_their_bits() -> None:
    """Law: values that float64 does not hold are compared exactly."""
    case = right_case("max_unpool3d", np.int64)
    case["self"] = case["self"] + 2**62 + 1
    case["outRef"] = computed(contracts.find("max_unpool3d"), {n: case[n] for n in list(case)[:-1]})
    assert softnpu.verify("max_unpool3d", case).ok
    case["outRef"][tuple(np.argwhere(case["outRef"])[0])] += 1
    report = softnpu.verify("max_unpool3d", case)
    assert (report.ok, report.max_ulp) == (False, 1)


def test_channels_last() -> None:
    """Law: `format` says which axis is the channel; either order of inputSize is understood."""
    grad = np.random.default_rng(4).standard_normal((1, 2, 4, 6, 2))
    for size in ([1, 1, 2, 3, 2], [1, 2, 1, 2, 3]):
        got = np.empty((1, 1, 2, 3, 2))
        softnpu.upsample_nearest3d_backward(grad, [2, 4, 6], size, format="NDHWC", out=got)
        case = {"gradOut": grad, "outputSize": [2, 4, 6], "inputSize": size, "gradInput": got}
        case |= {"scalesD": 0, "scalesH": 0, "scalesW": 0, "format": "NDHWC"}
        assert softnpu.verify("upsample_nearest3d_backward", case).ok
        case["gradInput"] = got + 1
        report = softnpu.verify("upsample_nearest3d_backward", case)
        assert not report.ok
        assert list(report.worst[0].inputs.values()) == ["8 terms"]


def test_worst_are_limited_and_in_order() -> None:
    """Law: at most as many as asked for, the worst first."""
    x = np.ones(100, np.float32)
    got = computed(contracts.find("selu"), {"self": x})
    got.view(np.uint32)[:50] += np.arange(50, dtype=np.uint32)
    got[7] = np.nan
    report = softnpu.verify("selu", {"self": x, "out": got}, worst=4)
    assert [e.index for e in report.worst] == [(7,), (49,), (48,), (47,)]
    assert softnpu.verify("selu", {"self": x, "out": got}, worst=0).worst == ()


def test_the_table_speaks_of_every_operator_and_type() -> None:
    """Law: whatever an operator's contract allows as a result has a documented accuracy."""
    for spec in CONTRACTS:
        output = next(row for row in spec.table["argument"] if row["role"] in ("out", "inout"))
        for name in output["dtypes"]:
            for reduction in ("none", "mean", "sum"):
                assert accuracy.promise(spec.family, NUMPY[name], reduction).max_ulp <= 2
    with pytest.raises(LookupError, match="uint8"):
        accuracy.promise("elu", np.dtype(np.uint8))
