# SPDX-License-Identifier: Apache-2.0
"""Activations along a dimension, against NumPy and PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from softnpu import aclnn
from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import FLOATS
from tests.everyday.layers import LAYOUTS, assert_rounded, data, unwritten, wide
from tests.support.described import call

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
F = torch.nn.functional
SHAPE = (3, 4, 6)
DIMS = [0, 1, -1]
SOFTMAX: dict[str, Callable[..., Any]] = {"Softmax": torch.softmax, "LogSoftmax": torch.log_softmax}


@pytest.mark.parametrize("name", SOFTMAX)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_softmax(name: str, dim: int, dtype: Any, layout: str) -> None:
    """Also into float32, and for large numbers. The gradient may be written over its inputs."""
    x = data(dtype, SHAPE, 1, layout)
    x[0, 0] *= 300
    source = wide(x)
    y = SOFTMAX[name](source, dim)
    for kind in (dtype, "f4"):
        out = unwritten(kind, SHAPE, layout)
        call(name, x, dim, out)
        assert_rounded(out, y.detach().numpy())
    small = wide(data("f8", SHAPE, 2))
    y = SOFTMAX[name](small, dim)
    grad, output = data(dtype, SHAPE, 3, layout), y.detach().numpy()
    (wanted,) = torch.autograd.grad(y, small, wide(grad).detach())
    call(f"{name}Backward", grad, output, dim, grad)
    assert_rounded(grad, wanted.numpy())


def test_softmax_of_rank_0_and_of_infinities() -> None:
    """One element gives 1; a line of -inf gives NaN, as PyTorch."""
    out = unwritten("f4", ())
    call("Softmax", np.array(5, "f4"), -1, out)
    assert out == 1
    x = np.array([[-np.inf, 0.0, 0.0], [-np.inf] * 3, [np.nan, 0.0, 0.0]], "f4")
    out = unwritten("f4", (3, 3))
    call("Softmax", x, 1, out)
    np.testing.assert_array_equal(out, torch.softmax(torch.from_numpy(x), 1).numpy())


@pytest.mark.parametrize("shape", [(3, 4, 5), (6, 4), (7,)])
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_prelu(shape: Any, size: int, dtype: Any) -> None:
    """The weight has one entry, or one for each channel."""
    if len(shape) == 1 and size != 1:
        pytest.skip("has one channel")
    x, grad = data(dtype, shape, 1, "transposed"), data(dtype, shape, 2, "sliced")
    w = data(dtype, (size,), 3)
    given = [wide(x), wide(w)]
    y = F.prelu(*given)
    out = unwritten(dtype, shape, "transposed")
    call("Prelu", x, w, out)
    assert_rounded(out, y.detach().numpy())
    wanted = torch.autograd.grad(y, given, wide(grad).detach())
    outs = unwritten(dtype, shape), unwritten(dtype, (size,))
    call("PreluBackward", grad, x, w, *outs)
    for out, each in zip(outs, wanted, strict=True):
        assert_rounded(out, each.numpy())


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gated_units(dim: int, dtype: Any) -> None:
    """The halves along dim."""
    x = data(dtype, (4, 2, 6), 1, "transposed")
    a, b = (h.detach() for h in wide(x).chunk(2, dim))
    out = unwritten(dtype, a.shape, "sliced")
    call("SwiGlu", x, dim, out)
    assert_rounded(out, (F.silu(a) * b).numpy())
    for approximate, name in ((0, "tanh"), (1, "none")):
        for left in (True, False):
            factor, rest = (a, b) if left else (b, a)
            gelu, activated = F.gelu(factor, approximate=name), unwritten(dtype, a.shape)
            call("GeGluV3", x, dim, approximate, left, out, activated)
            assert_rounded(out, (gelu * rest).numpy())
            assert_rounded(activated, gelu.numpy())


def rotate(x: np.ndarray, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """What is multiplied by cos, and by sin."""
    if mode in (0, 2):
        parts = np.split(x, 2 if mode == 0 else 4, -1)
        pairs = [(-b, a) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return x, np.concatenate([p for pair in pairs for p in pair], -1)
    even, odd = x[..., ::2], x[..., 1::2]
    if mode == 1:
        return x, np.stack([-odd, even], -1).reshape(x.shape)
    return np.concatenate([even, odd], -1), np.concatenate([-odd, even], -1)


@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("angles", [(1, 1, 5, 8), (2, 3, 5, 8), (5, 8)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rotary_position_embedding(mode: int, angles: Any, dtype: Any) -> None:
    """Cos and sin are broadcast."""
    x = data(dtype, (2, 3, 5, 8), 1, "transposed")
    cos, sin = data(dtype, angles, 2), data(dtype, angles, 3, "sliced")
    out = unwritten(dtype, x.shape, "sliced")
    call("RotaryPositionEmbedding", x, cos, sin, mode, out)
    kept, rotated = rotate(x.astype("f8"), mode)
    assert_rounded(out, kept * cos.astype("f8") + rotated * sin.astype("f8"))


MISTAKES: list[tuple[str, list[Any], str]] = [
    ("Softmax", [(3, 4), 2, (3, 4)], "dim is 2"),
    ("LogSoftmax", [(3, 4), 1, (4, 3)], "out has shape"),
    ("SoftmaxBackward", [(3, 4), (3, 5), 1, (3, 4)], "output has shape"),
    ("Prelu", [(3, 4), (3,), (3, 4)], "weight has shape"),
    ("PreluBackward", [(3, 4), (3, 4), (3,), (3, 4), (3,)], "weight has shape"),
    ("SwiGlu", [(3, 5), 1, (3, 2)], "has size 5; expected an even size"),
    ("SwiGlu", [(3, 6), 1, (3, 6)], "out has shape"),
    ("GeGluV3", [(3, 6), 1, 2, True, (3, 3), (3, 3)], "approximate is 2"),
    ("GeGluV3", [(3, 6), 1, 1, True, (3, 3), (3, 6)], "outGelu has shape"),
    ("RotaryPositionEmbedding", [(2, 6), (6,), (6,), 4, (2, 6)], "mode is 4"),
    ("RotaryPositionEmbedding", [(2, 6), (6,), (6,), 2, (2, 6)], "a multiple of 4"),
    ("RotaryPositionEmbedding", [(2, 6), (6,), (3,), 0, (2, 6)], "sin has shape"),
]


@pytest.mark.parametrize(("name", "given", "message"), MISTAKES)
def test_mistakes(name: str, given: list[Any], message: str) -> None:
    """Each is found in phase one. Shapes stand for tensors."""
    values = [np.zeros(v, "f4") if isinstance(v, tuple) else v for v in given]
    with pytest.raises(ParamInvalidError, match=message):
        call(name, *values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("x", 0, None), "self is of class str; expected an integer"),
        ((-1, 0, None), "self is -1; expected an integer"),
        ((None, None, None), "dim is of class NoneType; expected an integer"),
        ((None, 2**63, None), "dim is 9223372036854775808; expected an integer"),
    ],
)
def test_arguments_of_other_classes(values: Any, message: str) -> None:
    """The error names the function and the argument."""
    with pytest.raises(TypeError, match=f"aclnnSoftmaxGetWorkspaceSize: {message}"):
        aclnn.aclnnSoftmaxGetWorkspaceSize(*values)
