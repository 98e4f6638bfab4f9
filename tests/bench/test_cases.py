# SPDX-License-Identifier: Apache-2.0
"""The table of cases: all that is promised is in it, and both sides of a case do the same work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.bench import cases
from softnpu.bench.arrays import Arrays, to_numpy
from softnpu.bench.cases import Case
from softnpu.bench.session import DisagreementError, agree

TABLE = cases.table()
QUICK = cases.quick(TABLE)
SMALL = [case for case in TABLE if case.size in ("16", "1K", "64K")]


def values_of(name: str) -> set[str]:
    """All values that a field takes."""
    return {getattr(case, name) for case in TABLE}


def test_ids_are_unique() -> None:
    """Comparisons go by them."""
    ids = [case.id for case in TABLE]
    assert len(ids) == len(set(ids))


def test_every_class_has_cases_at_its_sizes() -> None:
    """64K, 1M and 16M in every class of operators; large results and 16 elements in the others."""
    for group in cases.CLASSES:
        sizes = {case.size for case in TABLE if case.group == group}
        least = {"allocating": {"16M", "64M"}, "call": {"16"}}.get(group, {"64K", "1M", "16M"})
        assert least <= sizes, group


def test_every_layout_and_type_has_cases() -> None:
    """What the benchmark promises to measure."""
    assert values_of("layout") >= {
        *("contiguous", "offset", "power-of-two", "transposed", "channels-last", "sliced"),
        *("rows", "columns", "scalar", "stride-0"),
        *("out-transposed", "out-channels-last", "out-sliced"),
        *("ncdhw", "ndhwc", "allocating", "numpy", "torch", "c-api"),
    }
    assert values_of("dtype") >= {"float32", "float16", "bfloat16", "float64", "int8", "int32"}
    assert values_of("variant") >= {
        "exp",
        "result",
        "x2",
        "x1.5",
        "x0.5",
        "x3.3",
        "x2,1.5,0.5",
        "x8",
    }
    assert values_of("variant") >= {"pooling", "sorted", "random"}


def test_the_number_of_elements_is_near_the_size() -> None:
    """So that the cases of one size can be put side by side."""
    for case in TABLE:
        assert 0.6 < case.elements / cases.SIZES[case.size] < 1.45, case.id


def test_allocating_results_have_32_megabytes_and_more() -> None:
    """Below that the memory comes from where it came from before."""
    for case in TABLE:
        if case.group == "allocating" and "upsample" not in case.operator:
            width = 2 if case.dtype == "bfloat16" else 4
            assert case.elements * width >= 32 << 20, case.id


def test_the_quick_set_is_some_forty_small_cases_of_every_class() -> None:
    """Except of results too large for it; and all of its names exist."""
    assert {case.id for case in QUICK} == cases.QUICK
    assert 30 <= len(QUICK) <= 50
    assert max(case.elements for case in QUICK) <= 1.2 * (1 << 20)
    assert {case.group for case in QUICK} == set(cases.CLASSES) - {"allocating"}


def test_filters_are_parts_of_names_or_globs() -> None:
    """Of ids and of classes; several filters add up."""
    assert cases.select(TABLE, []) == TABLE
    found = cases.select(TABLE, ["unpool3d_"])
    assert {case.operator for case in found} == {"max_unpool3d_backward"}
    assert {case.group for case in cases.select(TABLE, ["gather", "call"])} == {"gather", "call"}
    (one,) = cases.select(TABLE, ["selu_backward/*/transposed/16M", "nothing"])[:1]
    assert (one.layout, one.size) == ("transposed", "16M")


@pytest.mark.parametrize("case", SMALL[::7], ids=lambda case: case.id)
def test_cases_run_on_numpy_arrays(case: Case) -> None:
    """Without PyTorch there is no peer, and the same work: all of the output, each time."""
    prepared = case.prepare(Arrays())
    assert prepared.peer is None
    output = to_numpy(prepared.softnpu())  # small cases write the same one in every call
    results = []
    for before in (1, 2):
        output[...] = before
        results.append(to_numpy(prepared.softnpu()).astype(np.float64))
    assert output.size > 0
    assert np.isfinite(results).all()
    assert np.array_equal(*results)  # an element that is not written is 1, then 2


@pytest.mark.torch
@pytest.mark.parametrize("case", [*QUICK, *SMALL], ids=lambda case: case.id)
def test_both_sides_agree(case: Case) -> None:
    """Every quick case and every small one; PyTorch is the peer of all but the integers."""
    torch = pytest.importorskip("torch")
    prepared = case.prepare(Arrays(torch))
    assert (prepared.peer is None) == (case.operator == "selu_backward" and "int" in case.dtype)
    agree(case, prepared)


@pytest.mark.torch
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced"])
def test_new_values_lie_as_the_old_ones_did(layout: str) -> None:
    """Each time others, of the same layout, and both sides see them."""
    torch = pytest.importorskip("torch")
    (case,) = cases.select(TABLE, [f"selu_backward/float32/{layout}/64K"])
    prepared = case.prepare(Arrays(torch))
    assert prepared.renew is not None
    seen = []
    for _ in range(4):
        agree(case, prepared)
        seen.append(to_numpy(prepared.out).copy())
        prepared.renew()
    for one in seen[1:]:
        assert (one != seen[0]).mean() > 0.5  # where both are positive, selu's gradient is the same


@pytest.mark.torch
def test_values_are_renewed_where_branches_on_them_could_be_learned() -> None:
    """Of elementwise operands from 16K to 256K elements; elsewhere a call would be disturbed."""
    torch = pytest.importorskip("torch")
    arrays = Arrays(torch)
    for case in cases.select(TABLE, ["selu_backward/float32/", "unpool*pooling/float32*"]):
        if case.elements < 2 << 20 and case.group not in ("call", "allocating"):
            expected = "selu" in case.operator and case.size in ("16K", "64K", "256K")
            assert (case.prepare(arrays).renew is not None) == expected, case.id


def test_sides_that_do_different_work_are_an_error() -> None:
    """A benchmark of them would measure nothing."""
    prepared: Any = TABLE[0].prepare(Arrays())
    wrong = cases.Prepared(prepared.softnpu, lambda: None, prepared.out)
    with pytest.raises(DisagreementError, match=TABLE[0].id):
        agree(TABLE[0], wrong)
