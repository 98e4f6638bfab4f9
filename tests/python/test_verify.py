# SPDX-License-Identifier: Apache-2.0
"""`softnpu.verify` passes what is right, and finds and names what is not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from softnpu import contract as contracts
from softnpu.judging import accuracy
from softnpu.judging.dtypes import NUMPY
from softnpu.judging.ulp import between
from tests.python.operators import BY_NAME
from tests.support import specials as sp

Array = npt.NDArray[Any]
Case = dict[str, Any]
CONTRACTS = list(contracts.load_contracts().values())


@pytest.fixture(autouse=True)
def _numpy_is_quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def inputs_of(spec: contracts.Contract, dtype: np.dtype[Any]) -> Case:
    """A valid call of an operator with one data type; elementwise ones on unusual values, too."""
    base = BY_NAME[spec.family]
    values = [*base.arrays.values()]
    if spec.table["elementwise"]:
        rng = np.random.default_rng(5)
        draw = [sp.random_values(rng, 500, dtype) for _ in values]
        if dtype.kind not in "iu":
            draw = [np.concatenate([x, rng.permutation(sp.specials(dtype))]) for x in draw]
        values = draw
    arrays = dict(zip(base.arrays, values, strict=True))
    arrays = {n: a if n == "indices" else a.astype(dtype) for n, a in arrays.items()}
    named = {base.documented[n]: value for n, value in {**arrays, **base.rest}.items()}
    if spec.python.endswith("_"):
        named["selfRef"] = named.pop("self")
    scales = {"scalesD": 0.0, "scalesH": 0.0, "scalesW": 0.0}
    names = [a.name for a in spec.arguments if a.role != "out"]
    return {name: {**scales, **named}[name] for name in names}


def computed(spec: contracts.Contract, inputs: Case, **keywords: Any) -> Array:
    """What softnpu makes of the inputs."""
    function = getattr(softnpu, spec.python)
    values = list(inputs.values())
    if spec.python.endswith("_"):
        values[0] = values[0].copy()
    result: Array = function(*values, **keywords)
    return result


def result_name(spec: contracts.Contract) -> str:
    """The name of a case's result."""
    return "out" if spec.python.endswith("_") else spec.arguments[-1].name


def right_case(name: str, dtype: npt.DTypeLike = np.float32, **changes: Any) -> Case:
    """A case with softnpu's own result."""
    spec = contracts.find(name)
    inputs = {**inputs_of(spec, np.dtype(dtype)), **changes}
    return {**inputs, result_name(spec): computed(spec, inputs)}


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


OUTPUTS = [
    pytest.param(spec, NUMPY[name], id=f"{spec.operator} {name}")
    for spec in CONTRACTS
    if spec.table["elementwise"] and not spec.python.endswith("_")
    for name in spec.table["argument"][-1]["dtypes"]
    if not name.startswith("INT")
]


@pytest.mark.parametrize(("spec", "dtype"), OUTPUTS)
def test_results_of_other_types_pass(spec: contracts.Contract, dtype: np.dtype[Any]) -> None:
    """Law: so have results of another type than the inputs', DOUBLE and complex ones among them."""
    if "Selu" in spec.operator:
        pytest.skip("the result has the inputs' type")
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


ELU = "aclnnEluBackward"


def small(**changes: Any) -> Case:
    """Gradients of elu whose exact values are simple: 1 and 0.25."""
    ones = np.ones((2, 2), np.float32)
    x = np.array([[1, 2], [3, -0.75]], np.float32)
    got = np.array([[1, 1], [1, 0.25]], np.float32)
    case = {"gradOutput": ones, "alpha": 1.0, "scale": 1.0, "inputScale": 1, "isResult": True}
    return {**case, "selfOrResult": x, "gradInput": got, **changes}


def changed(value: float, where: tuple[int, int] = (0, 1)) -> Case:
    """That case with another value in one place."""
    case = small()
    case["gradInput"][where] = value
    return case


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


def test_reductions_have_accuracies_of_their_own() -> None:
    """Law: a FLOAT mean is within 1 ULP, though single losses are only within 2."""
    for reduction, limit in (("none", 2), (0, 2), ("mean", 1), (1, 1), ("sum", 1), (2, 1)):
        case = right_case("smooth_l1_loss", reduction=reduction)
        case["self"], case["target"] = np.float32([3, 3]), np.float32([1, 1])
        case["result"] = np.array({0: 1.75, "none": 1.75}.get(reduction, 1.75), np.float32)
        if reduction in (0, "none"):
            case["result"] = np.full(2, 1.75, np.float32)
        elif reduction in (2, "sum"):
            case["result"] = np.array(3.5, np.float32)
        for steps in range(4):
            report = softnpu.verify("smooth_l1_loss", case)
            assert (report.max_ulp, report.ok) == (steps, steps <= limit)
            case["result"] = np.nextafter(case["result"], np.float32(9))


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


def test_arrays_of_bytes_are_bfloat16() -> None:
    """Law: what NumPy's files make of bfloat16 is read as that."""
    case = right_case(ELU, ml_dtypes.bfloat16)
    raw = {n: v.view("V2") if isinstance(v, np.ndarray) else v for n, v in case.items()}
    assert softnpu.verify(ELU, raw).dtype == "bfloat16"


def test_other_byte_orders_and_strides() -> None:
    """Law: neither matters."""
    case = small()
    case["gradInput"] = case["gradInput"].astype(">f4")
    case["gradOutput"] = np.ones((4, 4), np.float32)[::2, ::2]
    assert softnpu.verify(ELU, case).ok


def test_empty_results() -> None:
    """Law: nothing is right."""
    none = np.empty((0, 2), np.float32)
    report = softnpu.verify("aclnnSelu", {"self": none, "out": none})
    assert (report.ok, report.elements, report.histogram) == (True, 0, {})
    assert "passes" in str(report)


def test_worst_are_limited_and_in_order() -> None:
    """Law: at most as many as asked for, the worst first."""
    x = np.ones(100, np.float32)
    got = computed(contracts.find("selu"), {"self": x})
    got.view(np.uint32)[:50] += np.arange(50, dtype=np.uint32)
    got[7] = np.nan
    report = softnpu.verify("selu", {"self": x, "out": got}, worst=4)
    assert [e.index for e in report.worst] == [(7,), (49,), (48,), (47,)]
    assert softnpu.verify("selu", {"self": x, "out": got}, worst=0).worst == ()


# What is refused, and what the message says of it.
REFUSED: list[tuple[Callable[[], Any], list[str]]] = [
    (lambda: softnpu.verify("aclnnRelu", {}), ["no operator 'aclnnRelu'"]),
    (lambda: softnpu.verify("elu_backwards", {}), ["aclnnEluBackward"]),
    (
        lambda: softnpu.verify(ELU, {n: v for n, v in small().items() if n != "alpha"}),
        [ELU, "missing: alpha", "expected: gradOutput, alpha"],
    ),
    (
        lambda: softnpu.verify(ELU, small(grad_input=1, beta=2)),
        [ELU, "unknown: grad_input, beta", "expected: gradOutput"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradInput=np.ones((2, 3), np.float32))),
        [ELU, "gradInput has shape [2, 3]", "[2, 2]"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradInput=np.ones((2, 2), np.int32))),
        [ELU, "gradInput", "INT32"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradOutput=np.ones((2, 2)))),
        [ELU, "gradOutput", "DOUBLE"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradOutput=np.array([["a"]]))),
        [ELU, "gradOutput has data type <U1", "float32"],
    ),
    (lambda: softnpu.verify(ELU, small(alpha=[1.0, 2.0])), [ELU, "alpha has shape (2,)", "single"]),
    (lambda: softnpu.verify(ELU, small(alpha=-1.0)), [ELU, "alpha", "-1"]),
    (lambda: softnpu.verify(ELU, small(alpha="one")), [ELU, "alpha", "expected a number"]),
    (
        lambda: softnpu.verify("aclnnInplaceSelu", {"selfRef": np.ones(2), "out": np.ones(3)}),
        ["aclnnInplaceSelu", "out has shape [3]", "selfRef has shape [2]"],
    ),
    (
        lambda: softnpu.verify("selu_", {"selfRef": np.ones(2, "f4"), "out": np.ones(2, "f2")}),
        ["aclnnInplaceSelu", "out has data type float16", "float32"],
    ),
    (
        lambda: softnpu.verify("smooth_l1_loss", right_case("smooth_l1_loss") | {"reduction": 3}),
        ["aclnnSmoothL1Loss", "reduction", "3"],
    ),
    (
        lambda: softnpu.verify(
            "upsample_nearest3d", right_case("upsample_nearest3d") | {"outputSize": 2}
        ),
        ["aclnnUpsampleNearest3d", "outputSize has shape ()", "list"],
    ),
    (
        lambda: softnpu.verify(
            "max_unpool3d", right_case("max_unpool3d") | {"indices": np.full((2, 3, 1, 2, 4), 24)}
        ),
        ["aclnnMaxUnpool3d", "indices", "24"],
    ),
    (lambda: softnpu.verify(ELU, small(), rtol=-1), ["rtol is -1", "0 or more"]),
    (lambda: softnpu.verify(ELU, small(), ulp=math.nan), ["ulp is nan"]),
    (lambda: softnpu.verify(ELU, small(), atol=math.inf), ["atol is inf"]),
]


@pytest.mark.parametrize(("call", "parts"), REFUSED, ids=[parts[-1] for _, parts in REFUSED])
def test_bad_input_is_refused(call: Callable[[], Any], parts: list[str]) -> None:
    """Law: what cannot be judged is a ValueError that names argument, value and expectation."""
    with pytest.raises(ValueError, match=re.escape(parts[0])) as caught:
        call()
    assert [part for part in parts if part not in str(caught.value)] == []


def test_the_table_speaks_of_every_operator_and_type() -> None:
    """Law: whatever an operator's contract allows as a result has a documented accuracy."""
    for spec in CONTRACTS:
        output = next(row for row in spec.table["argument"] if row["role"] in ("out", "inout"))
        for name in output["dtypes"]:
            for reduction in ("none", "mean", "sum"):
                assert accuracy.promise(spec.family, NUMPY[name], reduction).max_ulp <= 2
    with pytest.raises(LookupError, match="uint8"):
        accuracy.promise("elu", np.dtype(np.uint8))


def test_distances_of_integers_are_differences() -> None:
    """Law: also where the difference leaves the type's range."""
    low, high = np.iinfo(np.int8).min, np.iinfo(np.int8).max
    ends = np.int8([low, high, -1, 5]), np.int8([high, low, 1, 5])
    assert between(*ends).tolist() == [255, 255, 2, 0]
    big = np.int64([np.iinfo(np.int64).min]), np.int64([np.iinfo(np.int64).max])
    assert between(*big).tolist() == [float(2**64 - 1)]


def test_importing_softnpu_does_not_load_what_judges(script: Callable[[str], str]) -> None:
    """Law: references, tables and rich wait for the first call."""
    loaded = script(
        "import sys, softnpu\n"
        "print([m for m in sys.modules if m.startswith(('softnpu.judging.', 'softnpu.reference'))])"
    )
    assert loaded == "[]"
