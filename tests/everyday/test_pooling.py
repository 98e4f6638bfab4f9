# SPDX-License-Identifier: Apache-2.0
"""Pooling of planes and its gradients, against PyTorch in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import FLOATS
from tests.everyday.layers import assert_rounded, data, laid_out, unwritten, wide
from tests.support.described import call

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
F = torch.nn.functional

SHAPES = [(2, 3, 7, 8), (3, 9, 5)]
# kernel, stride, padding, ceilMode
WINDOWS: list[tuple[Any, ...]] = [
    ([2, 2], [2, 2], [0, 0], False),
    ([3, 2], [2, 1], [1, 1], False),
    ([3, 3], [2, 3], [1, 0], True),
    ([2, 3], [3, 2], [1, 1], True),
    ([3], [], [1], False),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("counted", "divisor"), [(True, 0), (False, 0), (True, 5)])
def test_averages(shape: Any, window: Any, dtype: Any, counted: bool, divisor: int) -> None:
    """Forward and backward, with elements of the padding counted or not."""
    x = data(dtype, shape, 1, "transposed")
    kernel, stride, padding, ceils = window
    source = wide(x)
    size = kernel * (2 // len(kernel))
    y = F.avg_pool2d(source, size, stride or None, padding, ceils, counted, divisor or None)
    out = unwritten(dtype, y.shape, "sliced")
    call("AvgPool2d", x, kernel, stride, padding, ceils, counted, divisor, 0, out)
    assert_rounded(out, y.detach().numpy())
    grad, result = data(dtype, tuple(y.shape), 2), unwritten(dtype, shape, "transposed")
    (wanted,) = torch.autograd.grad(y, source, wide(grad).detach())
    rest = (kernel, stride, padding, ceils, counted, divisor, 0, result)
    call("AvgPool2dBackward", grad, x, *rest)
    assert_rounded(result, wanted.numpy())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [[1, 1], [3, 4], [9, 10], [7, 5], [2]])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_adaptive_averages(shape: Any, size: Any, dtype: Any) -> None:
    """Windows overlap where sizes do not divide."""
    x = data(dtype, shape, 1, "sliced")
    source = wide(x)
    wanted = F.adaptive_avg_pool2d(source, size if len(size) == 2 else size[0])
    out = unwritten(dtype, wanted.shape, "transposed")
    call("AdaptiveAvgPool2d", x, size, out)
    assert_rounded(out, wanted.detach().numpy())
    grad, result = data(dtype, tuple(wanted.shape), 2), unwritten(dtype, shape, "transposed")
    call("AdaptiveAvgPool2dBackward", grad, x, result)
    (wanted,) = torch.autograd.grad(wanted, source, wide(grad).detach())
    assert_rounded(result, wanted.numpy())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dilation", [[1, 1], [2, 1]])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_maxima(shape: Any, window: Any, dilation: Any, dtype: Any) -> None:
    """Values, positions and gradients. Some elements are equal, and one is NaN."""
    x = laid_out(np.round(data("f8", shape, 1)).astype(dtype), "transposed")
    x[..., 3, 2] = np.nan
    kernel, stride, padding, ceils = window
    source = wide(x)
    y, positions = F.max_pool2d(
        source, kernel * (2 // len(kernel)), stride or None, padding, dilation, ceils, True
    )
    out, indices = unwritten(dtype, y.shape), unwritten("i4", y.shape, "sliced")
    call("MaxPool2dWithIndices", x, kernel, stride, padding, dilation, ceils, out, indices)
    np.testing.assert_array_equal(out.astype("f8"), y.detach().numpy())
    np.testing.assert_array_equal(indices, positions.numpy())
    alone = unwritten(dtype, y.shape)
    call("MaxPool", x, kernel, stride, 0, padding, dilation, int(ceils), alone)
    np.testing.assert_array_equal(alone.astype("f8"), out.astype("f8"))
    grad, result = data(dtype, tuple(y.shape), 2), unwritten(dtype, shape)
    (wanted,) = torch.autograd.grad(y, source, wide(grad).detach())
    rest = (kernel, stride, padding, dilation, ceils, result)
    call("MaxPool2dWithIndicesBackward", grad, x, indices.astype("i8"), *rest)
    assert_rounded(result, wanted.numpy())
    # The mask has a row for each element of the kernel, and a bit for each window.
    count = math.prod(kernel * (2 // len(kernel)))
    mask = unwritten("i1", (*shape[:-2], count, 32))
    out, result = unwritten(dtype, y.shape, "sliced"), unwritten(dtype, shape)
    call("MaxPool2dWithMask", x, kernel, stride, padding, dilation, ceils, out, mask)
    np.testing.assert_array_equal(out.astype("f8"), y.detach().numpy())
    call("MaxPool2dWithMaskBackward", grad, x, mask, *rest[:-1], result)
    assert_rounded(result, wanted.numpy())


def test_padding_before_and_after() -> None:
    """Four elements are top, bottom, left and right."""
    x = data("f4", (1, 2, 6, 6))
    padded = F.pad(wide(x), (0, 1, 1, 0), value=-np.inf)
    wanted = F.max_pool2d(padded, 3, 2).detach().numpy()
    out = unwritten("f4", wanted.shape)
    call("MaxPool", x, [3, 3], [2, 2], 0, [1, 0, 0, 1], [1, 1], 0, out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("name", ["AvgPool2d", "MaxPool"])
def test_windows_that_are_mostly_padding(name: str) -> None:
    """Only elements of the input take time."""
    size = 2**31 - 1
    kernel, stride, padding = [size, size], [1, 1], [size // 2, size // 2]
    x, out = np.full((1, 1, 1), 3, "f4"), np.zeros((1, 1, 1), "f4")
    last = (0, padding, [1, 1], 0) if name == "MaxPool" else (padding, False, False, 0, 0)
    call(name, x, kernel, stride, *last, out)
    np.testing.assert_array_equal(out, x)


def test_an_index_beyond_the_plane() -> None:
    """The next synchronisation reports it."""
    x, grad = np.zeros((1, 4, 4), "f4"), np.zeros((1, 2, 2), "f4")
    indices = np.array([[[0, 1], [2, 16]]], "i4")
    given = (grad, x, indices, [2, 2], [2, 2], [0, 0], [1, 1], False, np.zeros_like(x))
    with pytest.raises(RuntimeError, match="indices has 16"):
        call("MaxPool2dWithIndicesBackward", *given)


def test_a_mask_that_is_too_small() -> None:
    """It needs a row for each element of the kernel."""
    x, out = np.zeros((1, 6, 6), "f4"), np.zeros((1, 3, 3), "f4")
    for shape in ((1, 3, 32), (1, 4, 1), (2, 4, 32)):
        given = ([2, 2], [2, 2], [0, 0], [1, 1], False, out, np.zeros(shape, "i1"))
        with pytest.raises(ParamInvalidError, match=r"expected \[1, 4, 2\] or longer rows"):
            call("MaxPool2dWithMask", x, *given)


MISTAKES: list[tuple[list[Any], str]] = [
    ([(4, 4), [2, 2], [2, 2], [0, 0], (2, 2)], "expected rank 3 to 4"),
    ([(1, 4, 4), [2, 2], [2, 2], [2, 0], (1, 2, 2)], "padding is 2"),
    ([(1, 4, 4), [5, 5], [1, 1], [0, 0], (1, 0, 0)], "does not fit"),
    ([(1, 4, 4), [0, 2], [1, 1], [0, 0], (1, 0, 0)], "the kernel's size is 0"),
    ([(1, 4, 4), [2, 2], [2, 0], [0, 0], (1, 2, 2)], "an element of stride is 0"),
    ([(1, 4, 4), [2, 2, 2], [2, 2], [0, 0], (1, 2, 2)], "kernelSize is"),
    ([(1, 4, 4), [2, 2], [2, 2], [0, 0], (1, 2, 3)], "out has shape"),
]


@pytest.mark.parametrize(("given", "message"), MISTAKES)
def test_mistakes(given: list[Any], message: str) -> None:
    """Each is found in phase one."""
    x, kernel, stride, padding, out = given
    a, b = np.zeros(x, "f4"), np.zeros(out, "f4")
    with pytest.raises(ParamInvalidError, match=message):
        call("AvgPool2d", a, kernel, stride, padding, False, True, 0, 0, b)
    with pytest.raises(ParamInvalidError, match=message):
        call("MaxPool", a, kernel, stride, 0, padding, [1, 1], 0, b)
    with pytest.raises(ParamInvalidError, match="autoPad is 1"):
        call("MaxPool", a, kernel, stride, 1, padding, [1, 1], 0, b)
