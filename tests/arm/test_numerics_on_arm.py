# SPDX-License-Identifier: Apache-2.0
"""64-bit Arm computes what this machine computes: the same bits, or within 1 ULP after an exp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from softnpu.judging.ulp import distance, same_bits
from tests.support import laws
from tests.support import specials as sp
from tests.support.cases import Case, cases
from tests.support.emulated import Machine, softnpu_on
from tests.support.layouts import LAYOUTS, Layout, place

pytestmark = pytest.mark.arm

Array = npt.NDArray[Any]
# C has no negative strides.
FORWARD = [layout for layout in LAYOUTS if min(layout.steps) > 0]


def agree(got: Array, expected: Array, *, has_exp: bool) -> None:
    """Assert the law of this file."""
    if has_exp:
        assert distance(got, expected.astype(np.float64), zero_sign=True).max(initial=0) <= 1
    else:
        assert same_bits(got, expected)


def every(*sizes: str) -> list[Any]:
    """All cases of some sizes, as parameters of a test."""
    return [pytest.param(case, id=f"{size} {case.name}") for size in sizes for case in cases(size)]


@pytest.mark.parametrize("case", every("small", "large"))
def test_results_are_the_same(case: Case, machine: Machine) -> None:
    """Law: every operator and data type; special values stand in every fourth place."""
    expected = case.call(*case.inputs)
    with softnpu_on(machine):
        agree(case.call(*case.inputs), expected, has_exp=case.has_exp)


@pytest.mark.parametrize("case", every("small"))
def test_layouts_do_not_matter(case: Case, machine: Machine) -> None:
    """Law: strides, offsets, broadcasts change nothing; nothing but the output is written to."""
    with softnpu_on(machine):
        laws.input_layouts_do_not_matter(case.call, case.inputs, FORWARD)
        laws.broadcast_equals_copy(case.call, case.inputs)
        layouts = FORWARD if case.strided_output else FORWARD[:2]
        laws.output_is_written_fully_and_nothing_else(case.call, case.inputs, layouts)


@pytest.mark.parametrize("case", every("large"))
def test_layouts_of_large_arrays_do_not_matter(case: Case, machine: Machine) -> None:
    """Law: the same for sizes that take other paths: tiles, squares, vectors of every second."""
    chosen = [
        Layout("transposed", order="F"),
        Layout("channels-last", order="last", offset=1),
        Layout("every second", steps=(1, 1, 2)),
    ]
    with softnpu_on(machine):
        laws.input_layouts_do_not_matter(case.call, case.inputs, chosen)


@pytest.mark.parametrize("case", every("large"))
def test_threads_do_not_matter(case: Case, machines: Callable[[int], Machine]) -> None:
    """Law: 1, 2 and 3 threads give the same bits, for contiguous and for transposed inputs."""
    moved = [place(v, Layout("transposed", order="F")).view for v in case.inputs]
    with softnpu_on(machines(1)):
        expected = case.call(*case.inputs)
    for threads in (1, 2, 3):
        with softnpu_on(machines(threads)):
            assert same_bits(case.call(*case.inputs), expected)
            assert same_bits(case.call(*moved), expected)


def elu(is_result: bool, *scalars: float) -> Callable[[Array, Array], Array]:
    """elu_backward of a gradient and a value."""
    return lambda g, x: softnpu.elu_backward(g, *scalars, is_result, x)


def smooth_l1(beta: float) -> Callable[[Array, Array], Array]:
    """smooth_l1_loss_backward of a gradient and a value."""
    return lambda g, x: softnpu.smooth_l1_loss_backward(g, x, np.ones_like(x), "none", beta)


# Some scalars are computed in float32, others in float64.
ELEMENTWISE: dict[str, Callable[[Array, Array], Array]] = {
    "elu_backward of result": elu(True, 1.0, 1.0, 1.0),
    "elu_backward of result, odd scalars": elu(True, 1.5, 0.7, 1.3),
    "elu_backward of input": elu(False, 1.0, 1.0, 1.0),
    "elu_backward of input, odd scalars": elu(False, 1.5, 0.7, 1.3),
    "selu_backward": lambda g, x: softnpu.selu_backward(g, x),
    "smooth_l1_loss_backward": smooth_l1(1.0),
    "smooth_l1_loss_backward, odd beta": smooth_l1(0.3),
    "smooth_l1_loss_backward, beta 0": smooth_l1(0.0),
    "smooth_l1_loss": lambda a, b: softnpu.smooth_l1_loss(a, b, "none", 1.0),
    "smooth_l1_loss, odd beta": lambda a, b: softnpu.smooth_l1_loss(a, b, "none", 0.3),
    "smooth_l1_loss, beta 0": lambda a, b: softnpu.smooth_l1_loss(a, b, "none", 0.0),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("dtype", sp.FLOATING, ids=lambda d: d.name)
def test_special_values(name: str, dtype: np.dtype[Any], machine: Machine) -> None:
    """Law: all pairs of edge values, and all bit patterns of 16-bit types, signalling NaN too."""
    g, x = sp.all_pairs(sp.specials(dtype), sp.specials(dtype))
    if dtype.itemsize == 2:
        patterns = sp.every_bit_pattern(dtype)
        ones = np.ones_like(patterns)
        g, x = np.concatenate([g, patterns, ones]), np.concatenate([x, -ones, patterns])
    expected = ELEMENTWISE[name](g, x)
    with softnpu_on(machine):
        agree(ELEMENTWISE[name](g, x), expected, has_exp="of input" in name)
