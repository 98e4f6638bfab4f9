# SPDX-License-Identifier: Apache-2.0
"""Normalisation and its gradients, against PyTorch in float64."""

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
F = torch.nn.functional
ALL = [True, True, True]


def gradients(y: Any, given: list[Any], grad: np.ndarray) -> list[np.ndarray]:
    """Differentiate y by what is given."""
    found = torch.autograd.grad(y, [g for g in given if g is not None], wide(grad).detach())
    return [each.numpy() for each in found]


def statistics(x: np.ndarray, axes: tuple[int, ...], eps: float) -> tuple[Any, Any]:
    """Compute the mean and 1 / sqrt(variance + eps)."""
    values = x.astype("f8")
    return values.mean(axes), 1 / np.sqrt(values.var(axes) + eps)


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 4, 5), (2, 3, 2, 3, 2)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_batch_norm_in_training(shape: Any, dtype: Any, layout: str) -> None:
    """Running statistics are updated, and those of the batch are saved."""
    x, c = data(dtype, shape, 1, layout), shape[1]
    w, b = (data("f4", (c,), i) for i in (2, 3))
    mean, var = data("f4", (c,), 4), np.abs(data("f4", (c,), 5))
    wide_mean, wide_var = (torch.from_numpy(a.astype("f8")) for a in (mean, var))
    y = F.batch_norm(wide(x), wide_mean, wide_var, wide(w), wide(b), True, 0.1, 1e-5)
    out, saved, rstd = unwritten(dtype, shape, layout), unwritten("f4", (c,)), unwritten("f4", (c,))
    call("BatchNorm", x, w, b, mean, var, True, 0.1, 1e-5, out, saved, rstd)
    axes = (0, *range(2, len(shape)))
    assert_rounded(out, y.detach().numpy())
    for got, wanted in zip((saved, rstd), statistics(x, axes, 1e-5), strict=True):
        assert_rounded(got, wanted)
    assert_rounded(mean, wide_mean.numpy())
    assert_rounded(var, wide_var.numpy())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_batch_norm_otherwise(dtype: Any) -> None:
    """Inference keeps the running statistics; training needs none of the optional tensors."""
    x, out = data(dtype, (2, 3, 4)), unwritten(dtype, (2, 3, 4))
    mean, var = data("f4", (3,), 4), np.abs(data("f4", (3,), 5))
    before = mean.copy(), var.copy()
    y = F.batch_norm(wide(x), *(torch.from_numpy(a.astype("f8")) for a in (mean, var)))
    empty = np.zeros(0, "f4")
    call("BatchNorm", x, None, None, mean, var, False, 0.1, 1e-5, out, empty, empty)
    assert_rounded(out, y.detach().numpy())
    np.testing.assert_array_equal((mean, var), before)
    call("BatchNorm", x, None, None, None, None, True, 0.1, 1e-5, out, None, None)
    assert_rounded(out, F.batch_norm(wide(x), None, None, training=True).detach().numpy())


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_batch_norm_gradients(training: bool, weighted: bool, dtype: Any) -> None:
    """All, and only that of the input."""
    shape = (3, 4, 5)
    x, grad = data(dtype, shape, 1, "transposed"), data(dtype, shape, 2, "sliced")
    w = data(dtype, (4,), 3) if weighted else None
    mean, var = data("f8", (4,), 4), np.abs(data("f8", (4,), 5)) + 0.1
    bias = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    given = [wide(x), wide(w), bias]
    running = [None, None] if training else [torch.from_numpy(mean), torch.from_numpy(var)]
    y = F.batch_norm(given[0], *running, given[1], bias, training, eps=1e-3)
    saved, rstd = statistics(x, (0, 2), 1e-3) if training else (None, None)
    rest = (w, mean, var, saved, rstd, training, 1e-3)
    outs = [unwritten(dtype, shape, "transposed"), unwritten("f8", (4,)), unwritten("f8", (4,))]
    mask = [True, weighted, True]
    call("BatchNormBackward", grad, x, *rest, mask, *outs)
    wanted = gradients(y, given, grad)
    for out, each in zip([o for o, m in zip(outs, mask, strict=True) if m], wanted, strict=True):
        assert_rounded(out, each)
    alone = unwritten(dtype, shape)
    call("BatchNormBackward", grad, x, *rest, [True, False, False], alone, None, None)
    assert_rounded(alone, wanted[0])


LAYERS = [((4, 6), [6]), ((2, 3, 4), [4]), ((2, 3, 4), [3, 4]), ((5,), [5])]


@pytest.mark.parametrize(("shape", "last"), LAYERS)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layer_norm(shape: Any, last: Any, weighted: bool, dtype: Any, layout: str) -> None:
    """Forward with statistics, then backward from them."""
    x, n = data(dtype, shape, 1, layout), len(shape) - len(last)
    w, b = (data(dtype, tuple(last), i) if weighted else None for i in (2, 3))
    given = [wide(x), wide(w), wide(b)]
    y = F.layer_norm(given[0], last, given[1], given[2], 1e-4)
    kept = (*shape[:n], *[1] * len(last))
    mean, rstd = unwritten("f8", kept), unwritten("f8", kept)
    out = unwritten(dtype, shape, layout)
    call("LayerNorm", x, last, w, b, 1e-4, out, mean, rstd)
    assert_rounded(out, y.detach().numpy())
    for got, each in zip(
        (mean, rstd), statistics(x, tuple(range(n, len(shape))), 1e-4), strict=True
    ):
        assert_rounded(got, each.reshape(kept))
    out[...] = 0
    call("LayerNorm", x, last, w, b, 1e-4, out, None, None)
    assert_rounded(out, y.detach().numpy())

    grad, mask = data(dtype, shape, 4, "sliced"), ALL if weighted else [True, False, False]
    outs = [unwritten(dtype, shape), *(unwritten("f4", last) for _ in range(2))]
    outs = [o if m else None for o, m in zip(outs, mask, strict=True)]
    call("LayerNormBackward", grad, x, last, mean, rstd, w, b, mask, *outs)
    for got, each in zip(outs, gradients(y, given, grad), strict=False):
        assert_rounded(got, each)


@pytest.mark.parametrize("shape", [(2, 6, 4), (2, 6, 3, 2), (3, 6)])
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_group_norm(shape: Any, groups: int, weighted: bool, dtype: Any) -> None:
    """Forward with statistics, then backward from them."""
    if shape == (3, 6) and groups == 6:
        pytest.skip("PyTorch refuses groups of one element")
    x = data(dtype, shape, 1, "transposed")
    w, b = (data(dtype, (6,), i) if weighted else None for i in (2, 3))
    sizes = (shape[0], 6, int(np.prod(shape[2:])), groups)
    given = [wide(x), wide(w), wide(b)]
    y = F.group_norm(given[0], groups, given[1], given[2], 1e-4)
    mean, rstd = (unwritten("f8", (shape[0], groups)) for _ in range(2))
    out = unwritten(dtype, shape, "sliced")
    call("GroupNorm", x, w, b, *sizes, 1e-4, out, mean, rstd)
    assert_rounded(out, y.detach().numpy())
    rows = x.reshape(shape[0], groups, -1)
    for got, each in zip((mean, rstd), statistics(rows, (2,), 1e-4), strict=True):
        assert_rounded(got, each)
    grad, mask = data(dtype, shape, 4), ALL if weighted else [True, False, False]
    outs = [unwritten(dtype, shape), *(unwritten("f4", (6,)) for _ in range(2))]
    outs = [o if m else None for o, m in zip(outs, mask, strict=True)]
    call("GroupNormBackward", grad, x, mean, rstd, w, *sizes, mask, *outs)
    for got, each in zip(outs, gradients(y, given, grad), strict=False):
        assert_rounded(got, each)


@pytest.mark.parametrize(("shape", "last"), LAYERS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("with_ones", [True, False])
def test_rms_norm(shape: Any, last: Any, dtype: Any, with_ones: bool) -> None:
    """Rstd may lack the dimensions of size 1."""
    x, other = data(dtype, shape, 1, "transposed"), data(dtype, shape, 2, "sliced")
    gamma, n = data("f4", tuple(last), 3), len(shape) - len(last)
    axes = tuple(range(n, len(shape)))
    kept = (*shape[:n], *[1] * (len(last) if with_ones else 0))

    def reference(values: Any) -> tuple[Any, Any]:
        rstd = 1 / torch.sqrt((values * values).mean(axes, keepdim=True) + 1e-4)
        return values * rstd * wide_gamma, rstd

    wide_x, wide_gamma = wide(x), wide(gamma)
    y, scale = reference(wide_x)
    out, rstd = unwritten(dtype, shape, "sliced"), unwritten("f8", kept)
    call("RmsNorm", x, gamma, 1e-4, out, rstd)
    assert_rounded(out, y.detach().numpy())
    assert_rounded(rstd, scale.detach().numpy().reshape(kept))
    grad, dx, dgamma = data(dtype, shape, 4), unwritten(dtype, shape), unwritten("f4", last)
    call("RmsNormGrad", grad, x, rstd, gamma, dx, dgamma)
    for got, each in zip((dx, dgamma), gradients(y, [wide_x, wide_gamma], grad), strict=True):
        assert_rounded(got, each)
    total = unwritten(dtype, shape)
    call("AddRmsNorm", x, other, gamma, 1e-4, out, rstd, total)
    assert_rounded(total, x.astype("f8") + other.astype("f8"))
    y, scale = reference(wide_x + wide(other))
    assert_rounded(out, y.detach().numpy())
    assert_rounded(rstd, scale.detach().numpy().reshape(kept))


def test_statistics_of_float32() -> None:
    """Gradients start from the statistics that they are given."""
    x, grad = data("f4", (8, 16)), data("f4", (8, 16), 1)
    mean, rstd = (np.float32(s) for s in statistics(x, (1,), 1e-5))
    dx, source = unwritten("f4", (8, 16)), wide(x)
    given = (grad, x, [16], mean, rstd, None, None, [True, False, False])
    call("LayerNormBackward", *given, dx, None, None)
    (wanted,) = gradients(F.layer_norm(source, [16]), [source], grad)
    np.testing.assert_allclose(dx, wanted, rtol=1e-5, atol=1e-6)


def zeros(*shape: int) -> np.ndarray:
    """Make a float32 tensor whose numbers do not count."""
    return np.zeros(shape, "f4")


MISTAKES: list[tuple[str, list[Any], str]] = [
    ("LayerNorm", [zeros(3, 4), [3], None, None, 1e-5, zeros(3, 4), None, None], "does not end in"),
    ("LayerNorm", [zeros(3, 4), [], None, None, 1e-5, zeros(3, 4), None, None], "does not end in"),
    ("LayerNorm", [zeros(3, 4), [4], zeros(3), None, 1e-5, zeros(3, 4), None, None], "weight has"),
    ("LayerNorm", [zeros(3, 4), [4], None, None, 1e-5, zeros(3, 5), None, None], "out has shape"),
    (
        "LayerNorm",
        [zeros(3, 4), [4], None, None, 1e-5, zeros(3, 4), zeros(2, 1), None],
        "meanOut has shape",
    ),
    (
        "GroupNorm",
        [zeros(2, 6), None, None, 2, 6, 1, 4, 1e-5, zeros(2, 6), None, None],
        "group is 4",
    ),
    (
        "GroupNorm",
        [zeros(2, 6), None, None, 2, 6, 2, 2, 1e-5, zeros(2, 6), None, None],
        "N, C and HxW are",
    ),
    (
        "GroupNorm",
        [zeros(2, 6), zeros(5), None, 2, 6, 1, 2, 1e-5, zeros(2, 6), None, None],
        "gamma has shape",
    ),
    ("RmsNorm", [zeros(3, 4), zeros(3), 1e-5, zeros(3, 4), None], "does not end in"),
    ("RmsNorm", [zeros(3, 4), zeros(4), 1e-5, zeros(3, 4), zeros(4)], "rstd has shape"),
    ("AddRmsNorm", [zeros(3, 4), zeros(4), zeros(4), 1.0, *[zeros(3, 4)] * 3], "x2 has shape"),
    (
        "BatchNorm",
        [zeros(3), None, None, None, None, True, 0.1, 1e-5, zeros(3), None, None],
        "input has shape",
    ),
    (
        "BatchNorm",
        [zeros(3, 2), zeros(3), None, None, None, True, 0.1, 1e-5, zeros(3, 2), None, None],
        "weight has shape",
    ),
]


@pytest.mark.parametrize(("name", "given", "message"), MISTAKES)
def test_mistakes(name: str, given: list[Any], message: str) -> None:
    """Each is found in phase one."""
    with pytest.raises(ParamInvalidError, match=message):
        call(name, *given)


def test_what_training_decides_is_not_null() -> None:
    """Inference needs the running statistics; the gradient in training needs the saved ones."""
    x, mask = zeros(2, 3), [True, False, False]
    with pytest.raises(ParamNullptrError, match="runningMean is null"):
        call("BatchNorm", x, *[None] * 4, False, 0.1, 1e-5, zeros(2, 3), None, None)
    with pytest.raises(ParamNullptrError, match="saveMean is null"):
        call("BatchNormBackward", x, x, *[None] * 5, True, 1e-5, mask, zeros(2, 3), None, None)
    with pytest.raises(ParamNullptrError, match="gradInput is null"):
        call("LayerNormBackward", x, x, [3], zeros(2), zeros(2), None, None, mask, *[None] * 3)
