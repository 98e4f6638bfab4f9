# SPDX-License-Identifier: Apache-2.0
"""On PyTorch tensors, softnpu gives what PyTorch's own operators give where the contract agrees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import softnpu

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

ALPHA = 1.6732632423543772848170429916717
LAMBDA = 1.0507009873554804934193349852946
DTYPES = ["float32", "float16", "bfloat16"]

Layout = Callable[[Any], Any]
LAYOUTS: dict[str, Layout] = {
    "contiguous": lambda t: t.contiguous(),
    "channels last": lambda t: t.contiguous(memory_format=torch.channels_last_3d),
    "transposed": lambda t: t.transpose(1, 4).contiguous().transpose(1, 4),
    "every other": lambda t: torch.stack([t, t], -1).flatten(-2)[..., ::2],
}


def values(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    """Reproducible values on both sides of 0."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(getattr(torch, dtype))


def assert_close(computed: Any, expect: Any) -> None:
    """Equal type and shape, values within a few roundings of the type."""
    assert computed.dtype == expect.dtype
    assert computed.shape == expect.shape
    steps = 4 * torch.finfo(expect.dtype).eps
    torch.testing.assert_close(computed, expect, rtol=steps, atol=steps)


def aten_smooth_l1(*tensors: Any, reduction: int, beta: float) -> Any:
    """PyTorch's gradient; before 2.10 it had no kernel for float16, so in float32 there."""
    aten = torch.ops.aten.smooth_l1_loss_backward
    try:
        return aten(*tensors, reduction, beta)
    except RuntimeError:
        return aten(*(t.float() for t in tensors), reduction, beta).to(tensors[0].dtype)


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("dtype", DTYPES)
def test_elementwise_operators_agree(dtype: str, layout: str) -> None:
    """Elu (both forms), selu and smooth_l1 in every layout and type."""
    shape = (2, 5, 3, 7, 19)
    grad, x, target = (LAYOUTS[layout](values(dtype, shape, seed)) for seed in range(3))
    aten = torch.ops.aten
    for is_result in (True, False):
        assert_close(
            softnpu.elu_backward(grad, 0.75, 1.5, 1.25, is_result, x),
            aten.elu_backward(grad, 0.75, 1.5, 1.25, is_result, x),
        )
    assert_close(softnpu.selu_backward(grad, x), aten.elu_backward(grad, ALPHA, LAMBDA, 1, True, x))
    for reduction, beta in ((0, 1.0), (1, 0.5), (2, 2.0)):
        assert_close(
            softnpu.smooth_l1_loss_backward(grad, x, target, reduction, beta),
            aten_smooth_l1(grad, x, target, reduction=reduction, beta=beta),
        )
        # In float64: PyTorch's own sums of 16-bit numbers are rounded on the way.
        loss = aten.smooth_l1_loss(x.double(), target.double(), reduction, beta)
        assert_close(softnpu.smooth_l1_loss(x, target, reduction, beta), loss.to(x.dtype))


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("dtype", [*DTYPES, "float64"])
@pytest.mark.parametrize("out_size", [(4, 6, 10), (3, 5, 7), (1, 2, 2)])
def test_upsample_gradient_agrees(dtype: str, layout: str, out_size: tuple[int, ...]) -> None:
    """Sizes that grow by whole and by odd factors, and that shrink."""
    grad = LAYOUTS[layout](values(dtype, (2, 3, *out_size), 5))
    expect = torch.ops.aten.upsample_nearest3d_backward(
        grad.double(), list(out_size), [2, 3, 2, 3, 5]
    )
    computed = softnpu.upsample_nearest3d_backward(grad, out_size, (2, 3, 2, 3, 5))
    assert_close(computed, expect.to(grad.dtype))


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("dtype", [*DTYPES, "float64", "uint8"])
@pytest.mark.parametrize("out_size", [(4, 6, 10), (3, 5, 7), (1, 2, 2)])
def test_upsample_agrees(dtype: str, layout: str, out_size: tuple[int, ...]) -> None:
    """Bit for bit, and in the memory format of self, as PyTorch's result is."""
    x = LAYOUTS[layout](values(dtype, (2, 3, 2, 3, 5), 5))
    expect = torch.ops.aten.upsample_nearest3d(x, list(out_size))
    computed = softnpu.upsample_nearest3d(x, out_size)
    assert torch.equal(computed, expect)
    if layout == "channels last":
        assert computed.is_contiguous(memory_format=torch.channels_last_3d)
    out = torch.empty_like(expect)
    assert softnpu.upsample_nearest3d(x, out_size, out=out) is out
    assert torch.equal(out, expect)


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_unpool_agrees(dtype: str, layout: str) -> None:
    """Bit for bit, where no index repeats; PyTorch leaves open which of them counts."""
    x = LAYOUTS[layout](values(dtype, (2, 3, 2, 2, 3), 7))
    places = torch.randperm(96, generator=torch.Generator().manual_seed(8))[:12]
    indices = places.repeat(6).view(2, 3, 2, 2, 3)
    sizes = ((4, 4, 6), (2, 2, 2), (0, 0, 0))
    expect = torch.ops.aten.max_unpool3d(x, indices, *map(list, sizes))
    computed = softnpu.max_unpool3d(x, indices, *sizes)
    assert torch.equal(computed, expect)
    assert computed.is_contiguous()
    out = torch.empty_like(expect)
    assert softnpu.max_unpool3d(x, indices.int(), *sizes, out=out) is out
    assert torch.equal(out, expect)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int16", "int64", "uint8", "float64"])
def test_unpool_gradient_is_a_gather(dtype: str) -> None:
    """Bit for bit what torch.gather gives."""
    grad = (values("float32", (2, 3, 4, 5, 6), 7) * 50).to(getattr(torch, dtype))
    indices = torch.randint(0, 120, (2, 3, 2, 2, 3), generator=torch.Generator().manual_seed(8))
    computed = softnpu.max_unpool3d_backward(
        grad, torch.zeros_like(indices).to(grad.dtype), indices, (4, 5, 6), (2, 2, 2), (0, 0, 0)
    )
    expect = torch.gather(grad.flatten(-3), -1, indices.flatten(-3)).view_as(indices)
    assert torch.equal(computed, expect)


def test_out_is_written_and_returned() -> None:
    """The tensor that is passed as out comes back, written through its strides."""
    grad, x = values("float32", (6, 8), 1), values("float32", (6, 8), 2)
    buffer = torch.full((8, 12), 9.0)
    out = buffer.t()[::2]
    assert softnpu.selu_backward(grad, x, out=out) is out
    assert torch.equal(out, softnpu.selu_backward(grad, x))
    assert bool((buffer[:, 1::2] == 9).all())


def test_a_tensor_on_another_device_is_refused() -> None:
    """The message names the argument and the device."""
    grad = torch.empty(3, device="meta")
    with pytest.raises(softnpu.ParamInvalidError, match="gradOutput"):
        softnpu.selu_backward(grad, grad)
