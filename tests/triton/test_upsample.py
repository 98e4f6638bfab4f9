# SPDX-License-Identifier: Apache-2.0
"""The kernels of nearest upsampling against the core's results."""

from __future__ import annotations

import math

import pytest
import torch

import softnpu.torch
import softnpu.triton as gpu
from tests.triton.samples import LAYOUTS, check_bits, check_close, to_numpy, values

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
ops = torch.ops.softnpu
Size = tuple[int, int, int]
LAYOUT = pytest.mark.parametrize("layout", LAYOUTS)
# The small size, the large one, the scale; each is another way through the kernels.
CASES: list[tuple[Size, Size, float | None]] = [
    ((2, 3, 4), (4, 6, 8), None),  # whole ratios
    ((2, 3, 4), (3, 5, 6), None),
    ((2, 2, 16), (2, 4, 64), None),
    ((1, 2, 70), (1, 2, 210), None),  # a ratio that is no power of two; several tiles in a row
    ((3, 3, 3), (1, 2, 2), None),  # downsampling: elements without copies
    ((1, 1, 2), (3, 4, 100), None),  # long ranges
    ((3, 3, 7), (9, 9, 23), 3.3),
    ((4, 4, 4), (5, 5, 5), 1.25),
    ((3, 3, 3), (3, 3, 3), 1.25),  # copies that are cut off
    ((2, 2, 2), (2, 2, 82), None),  # where float32(z * in / out) would round below an integer
]
CASE = pytest.mark.parametrize(("small", "large", "scale"), CASES)


@CASE
@LAYOUT
def test_gradient(small: Size, large: Size, scale: float | None, layout: str) -> None:
    """Every way through the kernel, in every layout."""
    planes = (1, 67) if math.prod(large) <= 60 else (2, 3) if math.prod(large) <= 300 else (1, 1)
    scales = (scale, scale, scale)
    grad = LAYOUTS[layout](values(*planes, *large, dtype=torch.float32))
    size = (*planes, *small)
    expected = ops.upsample_nearest3d_backward(grad, large, size, *scales)
    out = torch.full_like(expected, 77)
    gpu.upsample_nearest3d_backward(grad, large, size, *scales, "NCDHW", out)
    check_close(out, expected)


@CASE
@LAYOUT
def test_forward(small: Size, large: Size, scale: float | None, layout: str) -> None:
    """Every way through the kernel, in every layout, bit by bit."""
    scales = (scale, scale, scale)
    x = LAYOUTS[layout](values(1, 3, *small, dtype=torch.float32))
    expected = ops.upsample_nearest3d(x, large, *scales)
    out = torch.full_like(expected, 77)
    check_bits(gpu.upsample_nearest3d(x, large, *scales, "NCDHW", out), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize(("small", "large", "scale"), CASES[:2])
def test_types(dtype: torch.dtype, small: Size, large: Size, scale: float | None) -> None:
    """The other types."""
    grad = values(2, 3, *large, dtype=dtype)
    arguments = grad, large, (2, 3, *small), scale, scale, scale
    expected = ops.upsample_nearest3d_backward(*arguments)
    out = torch.full_like(expected, 77)
    gpu.upsample_nearest3d_backward(*arguments, "NCDHW", out)
    if dtype == torch.float64:
        torch.testing.assert_close(out, expected, rtol=1e-14, atol=1e-14)
    else:
        check_close(out, expected)
    x = values(2, 3, *small, dtype=dtype)
    expected = ops.upsample_nearest3d(x, large, scale, scale, scale)
    out = torch.full_like(expected, 77)
    gpu.upsample_nearest3d(x, large, scale, scale, scale, "NCDHW", out)
    check_bits(out, expected)


@LAYOUT
@pytest.mark.parametrize("large", [(2, 2, 8), (2, 3, 5)])
def test_zeros_and_what_is_not_finite(layout: str, large: Size) -> None:
    """A sum of -0 alone is -0, an empty one +0; infinities and NaN stay in their boxes."""
    grad = torch.full((1, 4, *large), -0.0)
    grad[0, 1, 0, 0] = torch.inf
    grad[0, 2, 0, 0, 0], grad[0, 2, 1, 1, 2] = torch.nan, torch.inf
    grad[0, 2, 1, 1, 3] = -torch.inf
    grad[0, 3] = 2.0**127
    grad = LAYOUTS[layout](grad)
    arguments = grad, large, (1, 4, 2, 2, 4), None, None, None
    expected = ops.upsample_nearest3d_backward(*arguments)
    out = torch.full_like(expected, 77)
    gpu.upsample_nearest3d_backward(*arguments, "NCDHW", out)
    check_close(out, expected)


def test_bytes() -> None:
    """Copies of whole numbers of one byte."""
    x = values(2, 3, 2, 3, 4, dtype=torch.float32).mul(9).to(torch.uint8)
    out = torch.full((2, 3, 3, 5, 6), 77, dtype=torch.uint8)
    got = gpu.upsample_nearest3d(x, (3, 5, 6), None, None, None, "NCDHW", out)
    check_bits(got, ops.upsample_nearest3d(x, (3, 5, 6), None, None, None))


def test_lost_bits_of_double_are_kept() -> None:
    """A sum whose plain value in float64 would have lost the small terms."""
    grad = torch.full((1, 1, 4, 4, 4), 1.0, dtype=torch.float64)
    grad[0, 0, 0, 0, 0], grad[0, 0, 3, 3, 0] = 1e17, -1e17
    out = torch.empty(1, 1, 1, 1, 4, dtype=torch.float64)
    gpu.upsample_nearest3d_backward(grad, (4, 4, 4), out.shape, None, None, None, "NCDHW", out)
    assert to_numpy(out).ravel().tolist() == [14.0, 16.0, 16.0, 16.0]


def test_ndhwc() -> None:
    """Channels last by the format."""
    x = values(2, 2, 3, 4, 5, dtype=torch.float32)
    out = torch.empty(2, 4, 6, 8, 5)
    gpu.upsample_nearest3d(x, (4, 6, 8), 0.0, 0.0, 0.0, "NDHWC", out)
    check_bits(out, softnpu.upsample_nearest3d(x, (4, 6, 8), format="NDHWC"))


def test_planes_that_reach_beyond_32_bits() -> None:
    """No product of a place and a stride may overflow, though both are small."""
    room = torch.empty(2**31 + 1, dtype=torch.uint8)  # only three pages of it are touched
    far = room.as_strided((1, 1, 3, 1, 1), (1, 1, 2**30, 1, 1))
    near = torch.tensor([1, 2, 3], dtype=torch.uint8).view(far.shape)
    scales = None, None, None
    gpu.upsample_nearest3d(near, (3, 1, 1), *scales, "NCDHW", far)
    assert far.flatten().tolist() == [1, 2, 3]
    copy = torch.empty_like(near)
    gpu.upsample_nearest3d(far, (3, 1, 1), *scales, "NCDHW", copy)
    assert copy.flatten().tolist() == [1, 2, 3]


@pytest.mark.parametrize("axis", [2, 3])
def test_gradients_that_reach_beyond_32_bits(axis: int) -> None:
    """As the function's own planes, in float16."""
    room = torch.empty(2**31 + 1, dtype=torch.float16)
    shape, strides = [1] * 5, [1] * 5
    shape[axis], strides[axis] = 3, 2**30
    far = room.as_strided(shape, strides)
    near = torch.tensor([1, 2, 3], dtype=torch.float16).view(shape)
    arguments = shape[2:], shape, None, None, None, "NCDHW"
    gpu.upsample_nearest3d_backward(near, *arguments, far)
    assert far.flatten().tolist() == [1, 2, 3]
    copy = torch.empty_like(near)
    gpu.upsample_nearest3d_backward(far, *arguments, copy)
    assert copy.flatten().tolist() == [1, 2, 3]
