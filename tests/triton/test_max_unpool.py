# SPDX-License-Identifier: Apache-2.0
"""The kernels of max-unpooling against the core's results."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

import softnpu.torch
import softnpu.triton as gpu
from softnpu.triton import indices as noted
from tests.triton.samples import LAYOUTS, check_bits

pytestmark = pytest.mark.torch
ops = torch.ops.softnpu
TYPES = [torch.float32, torch.float16, torch.float64, torch.int8, torch.uint8, torch.int16]
TYPES += [torch.int32, torch.int64]
SHAPES = [((2, 3, 2, 3, 4), (4, 5, 6)), ((3, 2, 2, 2), (2, 2, 2)), ((1, 1, 1, 1, 1), (2, 2, 2))]
REST = (1, 1, 1), (0, 0, 0)


def draw(*shape: int, to: int = 100, dtype: torch.dtype = torch.int64, seed: int = 0) -> Tensor:
    """Draw whole numbers, many of them more than once."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, to, shape, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("shape", "size"), SHAPES)
def test_types(dtype: torch.dtype, shape: tuple[int, ...], size: tuple[int, ...]) -> None:
    """Every type of values and of indices."""
    x, indices = draw(*shape, dtype=dtype), draw(*shape, to=math.prod(size), seed=1)
    for index_type in (torch.int64, torch.int32):
        arguments = x, indices.to(index_type), size, *REST
        expected = ops.max_unpool3d(*arguments)
        check_bits(gpu.max_unpool3d(*arguments, torch.full_like(expected, 77)), expected)
    grad = draw(*shape[:-3], *size, dtype=dtype, seed=2)
    expected = ops.max_unpool3d_backward(grad, *(x, indices, size, *REST))
    out = torch.full_like(expected, 77)
    check_bits(gpu.max_unpool3d_backward(grad, x, indices, size, *REST, out), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("other", LAYOUTS)
def test_layouts(layout: str, other: str) -> None:
    """Operands in layouts of their own."""
    shape, size = SHAPES[0]
    x, indices = LAYOUTS[layout](draw(*shape)), LAYOUTS[other](draw(*shape, to=120, seed=1))
    expected = ops.max_unpool3d(x, indices, size, *REST)
    check_bits(gpu.max_unpool3d(x, indices, size, *REST, torch.full_like(expected, 77)), expected)
    grad = LAYOUTS[layout](draw(2, 3, *size, seed=2))
    arguments = grad, x, indices, size, *REST
    expected = ops.max_unpool3d_backward(*arguments)
    check_bits(gpu.max_unpool3d_backward(*arguments, torch.full_like(expected, 77)), expected)


def wrong_call(gradient: bool) -> None:
    """Call with two indices out of range, the first of them 99."""
    x, indices = torch.randn(1, 1, 2, 2, 2), torch.zeros(1, 1, 2, 2, 2, dtype=torch.int64)
    indices[0, 0, 1, 0, 1], indices[0, 0, 1, 1, 1] = 99, -3
    out = torch.full_like(x, 77)
    try:
        if gradient:
            gpu.max_unpool3d_backward(x, x, indices, (2, 2, 2), *REST, out)
        else:
            gpu.max_unpool3d(x, indices, (2, 2, 2), *REST, out)
    finally:
        assert not (out == 77).any()


MESSAGE = r"indices\[0, 0, 1, 0, 1\] is 99; expected 0 or more and less than 8, the product of"


@pytest.mark.parametrize("gradient", [False, True])
def test_indices_out_of_range(gradient: bool) -> None:
    """The first one is named, and nothing is written for it but 0."""
    with pytest.raises(IndexError, match=MESSAGE):
        wrong_call(gradient)


def two_wrong_calls() -> None:
    """Make them without waiting for either."""
    with softnpu.torch.deferred_index_checks():
        wrong_call(gradient=True)
        wrong_call(gradient=False)


def test_checks_that_are_deferred() -> None:
    """The end of the block raises for the first call."""
    with pytest.raises(softnpu.IndexOutOfRangeError, match=MESSAGE):
        two_wrong_calls()
    softnpu.torch.check_indices()  # nothing is left to report


def test_graphs_that_have_not_been_replayed() -> None:
    """Nobody has written what their kernels will note."""
    unwritten = torch.zeros_like(noted.new_note(torch.empty(0)))
    note = noted._Note(unwritten, "aclnnMaxUnpool3d", (2, 2), 4, is_captured=True)
    noted._watched.append(note)
    try:
        gpu.check_indices()
    finally:
        noted._watched.remove(note)
