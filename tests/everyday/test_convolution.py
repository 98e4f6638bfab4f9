# SPDX-License-Identifier: Apache-2.0
"""Convolutions along 1 to 3 dimensions and their gradients, against PyTorch in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError, ParamNullptrError
from tests.everyday.arrays import FLOATS
from tests.everyday.layers import LAYOUTS, assert_rounded, data, unwritten, wide
from tests.support.described import call

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

# input, weight, stride, padding, dilation, transposed, outputPadding, groups
CASES: list[tuple[Any, ...]] = [
    ((2, 3, 9), (4, 3, 3), [2], [1], [1], False, [0], 1),
    ((2, 4, 9), (6, 2, 2), [1], [0], [3], False, [0], 2),
    ((2, 3, 7, 6), (4, 3, 3, 2), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ((3, 7, 6), (4, 3, 3, 3), [2, 3], [1, 2], [2, 1], False, [0, 0], 1),
    ((1, 4, 5, 5), (4, 1, 3, 3), [1, 1], [2, 2], [1, 1], False, [0, 0], 4),
    ((1, 3, 5, 5), (2, 3, 1, 1), [2, 2], [0, 0], [1, 1], False, [0, 0], 1),
    ((2, 2, 4, 5, 6), (4, 1, 2, 3, 2), [1, 2, 2], [1, 0, 1], [1, 1, 2], False, [0, 0, 0], 2),
    ((2, 3, 5), (3, 4, 3), [2], [1], [1], True, [1], 1),
    ((2, 4, 3, 4), (4, 3, 3, 2), [2, 3], [1, 0], [2, 1], True, [1, 2], 2),
    ((4, 3, 4), (4, 2, 3, 3), [1, 1], [0, 0], [1, 1], True, [0, 0], 1),
    ((1, 2, 2, 3, 2), (2, 2, 2, 2, 2), [2, 1, 2], [0, 1, 0], [1, 1, 1], True, [0, 0, 1], 1),
    ((0, 3, 7), (4, 3, 3), [1], [1], [1], False, [0], 1),
]


def reference(x: Any, w: Any, b: Any, case: tuple[Any, ...]) -> Any:
    """Convolve in float64."""
    _, _, stride, padding, dilation, transposed, extra, groups = case
    return torch.convolution(x, w, b, stride, padding, dilation, transposed, extra, groups)


def tensors(case: tuple[Any, ...], dtype: Any, layout: str) -> tuple[Any, Any, Any]:
    """Draw input, weight and bias."""
    channels = case[1][1] * case[7] if case[5] else case[1][0]
    return (
        data(dtype, case[0], 1, layout),
        data(dtype, case[1], 2, layout),
        data(dtype, (channels,), 3, layout),
    )


def unbatched(x: Any, rank: int) -> Any:
    """Add the batch dimension that torch.convolution needs."""
    return x[None] if x.ndim < rank else x


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_convolution(case: Any, dtype: Any, layout: str) -> None:
    """With bias where the layout is contiguous."""
    x, w, b = tensors(case, dtype, layout)
    bias = b if layout == "contiguous" else None
    wanted = reference(
        unbatched(wide(x), w.ndim), wide(w), None if bias is None else wide(bias), case
    )
    wanted = wanted.detach().numpy().reshape((*x.shape[: x.ndim - w.ndim + 1], *wanted.shape[1:]))
    out = unwritten(dtype, wanted.shape, layout)
    call("Convolution", x, w, bias, *case[2:], out, 1)
    assert_rounded(out, wanted)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gradients(case: Any, dtype: Any) -> None:
    """All three, then each alone."""
    x, w, b = tensors(case, dtype, "transposed")
    wide_x, wide_w, wide_b = wide(x), wide(w), wide(b)
    y = reference(unbatched(wide_x, w.ndim), wide_w, wide_b, case)
    y = y.reshape((*x.shape[: x.ndim - w.ndim + 1], *y.shape[1:]))
    grad = data(dtype, tuple(y.shape), 4, "sliced")
    wanted = torch.autograd.grad(y, [wide_x, wide_w, wide_b], wide(grad).detach())
    for mask in ((True, True, True), (True, False, False), (False, True, False)):
        outs = [unwritten(dtype, g.shape) if m else None for g, m in zip(wanted, mask, strict=True)]
        sizes = list(b.shape) if mask[2] else None
        call("ConvolutionBackward", grad, x, w, sizes, *case[2:], mask, 0, *outs)
        for out, each in zip(outs, wanted, strict=True):
            if out is not None:
                assert_rounded(out, each.numpy())


def test_padding_before_and_after() -> None:
    """Padding may have two elements for each dimension."""
    x, w = data("f4", (1, 2, 5, 6)), data("f4", (3, 2, 3, 3), 1)
    padded = torch.nn.functional.pad(wide(x), (0, 3, 1, 2))
    wanted = torch.nn.functional.conv2d(padded, wide(w)).detach().numpy()
    out = unwritten("f4", wanted.shape)
    call("Convolution", x, w, None, [1], [1, 2, 0, 3], [1], False, [0], 1, out, 0)
    assert_rounded(out, wanted)


@pytest.mark.parametrize("shape", [(2, 3, 6, 7), (3, 5, 5)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "arrays",
    [([2, 3], [1, 1], [0, 0], [1, 1]), ([2, 2], [2, 1], [1, 2], [2, 3]), ([3], [1], [1], [2])],
)
def test_im2col(shape: Any, dtype: Any, arrays: Any) -> None:
    """As unfold."""
    x = data(dtype, shape, 1, "transposed")
    kernel, dilation, padding, stride = arrays
    both = [a * (2 // len(a)) for a in arrays]
    wanted = torch.nn.functional.unfold(wide(x), both[0], both[1], both[2], both[3])
    out = unwritten(dtype, wanted.shape, "sliced")
    call("Im2col", x, kernel, dilation, padding, stride, out)
    assert_rounded(out, wanted.detach().numpy())


def test_columns_of_padding_alone() -> None:
    """A plane without elements has windows in its padding."""
    out = np.ones((2, 3, 20), "f4")
    call("Im2col", np.zeros((2, 3, 0, 1), "f4"), [1, 1], [1, 1], [2, 2], [1, 1], out)
    assert not out.any()


MISTAKES = [
    ({"x": (2, 4, 7, 6)}, "input has 4 channels; expected 3"),
    ({"x": (7, 6)}, "expected rank 3 to 4"),
    ({"w": (4, 3)}, "weight has shape"),
    ({"groups": 3}, "groups is 3"),
    ({"groups": 0}, "groups is 0"),
    ({"stride": [0, 1]}, "an element of stride is 0"),
    ({"stride": [1, 1, 1]}, "expected 2 elements"),
    ({"stride": []}, "stride is empty"),
    ({"padding": [-1, 0]}, "an element of padding is -1"),
    ({"dilation": [9, 9]}, "does not fit"),
    ({"bias": (3,)}, "bias has shape"),
    ({"out": (2, 4, 5, 5)}, "out has shape"),
    ({"transposed": True, "extra": [1, 1], "x": (2, 4, 7, 6)}, "an element of outputPadding is 1"),
]


@pytest.mark.parametrize(("changed", "message"), MISTAKES)
def test_mistakes(changed: dict[str, Any], message: str) -> None:
    """Each is found in phase one."""
    usual: dict[str, Any] = {
        **{"x": (2, 3, 7, 6), "w": (4, 3, 3, 3), "bias": (4,), "stride": [1, 1]},
        **{"padding": [0, 0], "dilation": [1, 1], "transposed": False, "extra": [0, 0]},
        **{"groups": 1, "out": (2, 4, 5, 4)},
    }
    given = {**usual, **changed}
    values = [np.zeros(v, "f4") if isinstance(v, tuple) else v for v in given.values()]
    with pytest.raises(ParamInvalidError, match=message):
        call("Convolution", *values, 0)


def test_an_output_whose_flag_is_set_is_not_null() -> None:
    """The others may be null."""
    x, w, grad = np.zeros((1, 1, 3), "f4"), np.zeros((1, 1, 1), "f4"), np.zeros((1, 1, 3), "f4")
    given = [grad, x, w, None, [1], [0], [1], False, [0], 1]
    with pytest.raises(ParamNullptrError, match="gradWeight is null"):
        call("ConvolutionBackward", *given, [False, True, False], 0, None, None, None)
    with pytest.raises(ParamInvalidError, match="outputMask has 2 elements"):
        call("ConvolutionBackward", *given, [False, False], 0, None, None, None)
    with pytest.raises(ParamInvalidError, match="gradBias has shape"):
        call("ConvolutionBackward", *given, [False, False, True], 0, None, None, np.zeros(2, "f4"))
