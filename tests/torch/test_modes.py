# SPDX-License-Identifier: Apache-2.0
"""Calls on plain tensors inside PyTorch's modes and transforms, and tensors that are not plain."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import softnpu

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("without_softnpu_torch"),
    pytest.mark.filterwarnings("ignore:softnpu:UserWarning"),  # of tensors that require grad
]

# Results that PyTorch allocates, and those that softnpu's pool has memory for.
SIZES = [10, 1000, 2 << 20]


def operators(count: int) -> list[Callable[[], Any]]:
    """Calls of all operators on new plain tensors of some `count` elements."""
    a = torch.linspace(-2, 2, count)
    volume = torch.linspace(-1, 1, 8 * (count // 8 + 1)).reshape(1, 1, 2, 2, -1)
    depth, height, width = volume.shape[2:]
    indices = torch.arange(volume.numel()).reshape(volume.shape)
    return [
        lambda: softnpu.elu_backward(a, 1.0, 1.0, 1.0, False, a),
        lambda: softnpu.selu_backward(a, a),
        lambda: softnpu.smooth_l1_loss_backward(a, a, a, "none", 1.0),
        lambda: softnpu.upsample_nearest3d(volume, (depth, height, width)),
        lambda: softnpu.upsample_nearest3d_backward(
            volume, (depth, height, width), (1, 1, 1, 1, width)
        ),
        lambda: softnpu.max_unpool3d(volume, indices, (depth, height, width), (1, 1, 1), (0, 0, 0)),
        lambda: softnpu.max_unpool3d_backward(
            volume, volume, indices, (depth, height, width), (1, 1, 1), (0, 0, 0)
        ),
    ]


def transformed(name: str, call: Callable[[], Any]) -> Any:
    """What a call on captured tensors contributes inside a transform: its first element."""

    def body(b: Any) -> Any:
        return (call().reshape(-1)[:1] * b).sum()

    one = torch.ones(1)
    if name == "grad":
        return torch.func.grad(body)(one)
    if name == "jvp":
        return torch.func.jvp(body, (one,), (one,))[1].reshape(1)
    if name == "vmap":
        return torch.func.vmap(body)(one.reshape(1, 1))
    return torch.func.functionalize(body)(one).reshape(1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own code
@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("name", ["grad", "jvp", "vmap", "functionalize"])
def test_transforms(name: str, count: int) -> None:
    """Law: a call on plain tensors has the value that it has outside, whatever the size."""
    for call in operators(count):
        assert torch.equal(transformed(name, call), call().reshape(-1)[:1])


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("name", ["fake", "meta", "inference"])
def test_modes(name: str, count: int) -> None:
    """Law: the same inside a mode that makes other tensors, or makes them elsewhere."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    modes: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
        "fake": FakeTensorMode,
        "meta": lambda: torch.device("meta"),
        "inference": torch.inference_mode,
    }
    for call in operators(count):
        expected = call().numpy()
        with modes[name]():
            got = call()
        assert type(got) is torch.Tensor
        assert got.device.type == "cpu"
        assert (got.numpy() == expected).all()


@pytest.mark.parametrize("count", SIZES)
def test_wrappers_are_refused(count: int) -> None:
    """Law: a tensor that a transform wraps has no memory: one clear refusal, no backtrace."""
    message = "gradOutput cannot be read: it has no memory of its own, as inside"
    with pytest.raises(softnpu.ParamInvalidError, match=message) as caught:
        torch.func.grad(lambda b: softnpu.selu_backward(b, b).sum())(torch.ones(count))
    assert "\n" not in str(caught.value)
    assert "frame #" not in str(caught.value)


def views(values: Any) -> list[Any]:
    """Lazily negated tensors that hold `values`, with all kinds of strides and offsets."""
    wide = torch.zeros(3 * len(values) + 1, dtype=values.dtype)
    wide[1::3] = -values
    pairs = torch.stack([torch.zeros_like(values), -values], 1)
    made = [torch._neg_view(-values), torch._neg_view(wide[1::3]), torch._neg_view(pairs[:, 1])]
    if values.dtype in (torch.float32, torch.float64):
        made.append(torch.complex(torch.zeros_like(values), -values).conj().imag)
    return made


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_lazy_negation_counts(dtype: Any) -> None:
    """Law: every negative bit counts, in each argument, whatever strides and offsets are."""
    x = torch.tensor([-2.0, -0.5, 0.5, 2.0], dtype=dtype)
    ones = torch.ones(4, dtype=dtype)
    expected = softnpu.selu_backward(ones, x)
    assert expected[3] == ones.new_tensor(1.0507009873554805)
    for lazy in views(x):
        assert lazy.is_neg()
        assert torch.equal(softnpu.selu_backward(ones, lazy), expected)
        got = softnpu.elu_backward(lazy, 1.0, 1.0, 1.0, False, x)
        assert torch.equal(got, softnpu.elu_backward(x, 1.0, 1.0, 1.0, False, x))
        got = softnpu.smooth_l1_loss_backward(ones, lazy, ones, "none", 1.0)
        assert torch.equal(got, softnpu.smooth_l1_loss_backward(ones, x, ones, "none", 1.0))
        volume = lazy.reshape(1, 1, 1, 1, 4)
        got = softnpu.upsample_nearest3d_backward(volume, (1, 1, 4), (1, 1, 1, 1, 2))
        assert torch.equal(got.reshape(-1), torch.stack([x[0] + x[1], x[2] + x[3]]))
        got = softnpu.upsample_nearest3d(volume, (1, 2, 4))
        assert torch.equal(got.reshape(-1), torch.cat([x, x]))
        if dtype == torch.bfloat16:  # not among the types of the next operator
            continue
        indices = torch.tensor([3, 2, 1, 0]).reshape(1, 1, 1, 1, 4)
        got = softnpu.max_unpool3d(volume, indices, (1, 1, 4), (1, 1, 1), (0, 0, 0))
        assert torch.equal(got.reshape(-1), x.flip(0))
        got = softnpu.max_unpool3d_backward(
            volume, volume, indices, (1, 1, 4), (1, 1, 1), (0, 0, 0)
        )
        assert torch.equal(got.reshape(-1), x.flip(0))
        with pytest.raises(softnpu.ParamInvalidError, match="lazily negated"):
            softnpu.selu_backward(ones, x, out=lazy)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("count", [4, 1000])
def test_new_results_can_be_resized(count: int) -> None:
    """Law: a new result that PyTorch allocated is as good an ``out`` as one of PyTorch's own."""
    for call in operators(count):
        result = call()
        torch.add(torch.ones(5 * count + 64), 1, out=result)
        assert result.shape == (5 * count + 64,)
        assert (result == 2).all()


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("width", [1, 4, 300])
def test_results_keep_the_memory_format(channels: int, width: int) -> None:
    """Law: a channels-last gradient gives a channels-last result, with the same values."""
    last = torch.channels_last_3d
    grad = torch.randn(2, channels, 4, 6, 2 * width)
    sizes = ((4, 6, 2 * width), (2, channels, 2, 3, width))
    expected = softnpu.upsample_nearest3d_backward(grad, *sizes)
    assert expected.is_contiguous()
    got = softnpu.upsample_nearest3d_backward(grad.to(memory_format=last), *sizes)
    assert got.is_contiguous(memory_format=last)
    assert torch.equal(got, expected)
    matrix = torch.randn(5, 7)
    assert softnpu.selu_backward(matrix.T, matrix.T).stride() == matrix.T.stride()
    assert softnpu.selu_backward(matrix[:1].expand(5, 7), matrix).is_contiguous()
    indices = torch.arange(grad.numel() // (2 * channels)).repeat(2 * channels)
    pooled = grad.to(memory_format=last)
    got = softnpu.max_unpool3d_backward(
        pooled, grad, indices.reshape(grad.shape), sizes[0], (1, 1, 1), (0, 0, 0)
    )
    assert got.is_contiguous()  # as its contract wants it
    assert torch.equal(got, grad)


def test_sizes_may_be_tensors() -> None:
    """Law: output_size and input_size take what holds integers, as their type says."""
    grad = torch.ones(1, 1, 2, 2, 2)
    got = softnpu.upsample_nearest3d_backward(
        grad, torch.tensor([2, 2, 2]), torch.tensor([1, 1, 1, 1, 1]), None, None, None
    )
    assert got.reshape(-1).tolist() == [8]
    with pytest.raises(softnpu.ParamInvalidError, match="element 0 of outputSize"):
        softnpu.upsample_nearest3d_backward(grad, torch.tensor([2.0, 2, 2]), [1, 1, 1, 1, 1])


def test_views_of_lazy_zeros() -> None:
    """Zeros without memory, and their views, are read as zeros and never written to."""
    zeros = torch._efficientzerotensor(4)
    for lazy in (zeros, zeros[1:], zeros.view(2, 2)[1]):
        assert torch.equal(softnpu.elu(lazy), torch.zeros(lazy.shape))
        for write in (softnpu.selu_, lambda t: softnpu.elu(torch.ones(t.shape), out=t)):
            with pytest.raises(softnpu.ParamNullptrError, match="no data"):
                write(lazy)
