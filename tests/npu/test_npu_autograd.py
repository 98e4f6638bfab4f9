# SPDX-License-Identifier: Apache-2.0
"""Gradients, precision by autocast, transforms and compilation on the device."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def _on_both(function: Any) -> list[Any]:
    results = []
    for device in ("cpu", "npu"):
        torch.manual_seed(5)
        results.append([t.detach().cpu() for t in function(device)])
    return results


def _equal(function: Any) -> None:
    cpu, npu = _on_both(function)
    assert [torch.equal(a, b) for a, b in zip(cpu, npu, strict=True)] == [True] * len(cpu)


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_networks(cell: Any) -> None:
    """Cells that PyTorch fuses on devices give what the CPU gives, and its gradients."""

    def train(device: str) -> Any:
        net = cell(3, 4, num_layers=2, bidirectional=True).to(device)
        out, _ = net(torch.randn(5, 2, 3).to(device))
        out.square().sum().backward()
        return [out, *[p.grad for p in net.parameters()]]

    cpu, npu = _on_both(train)
    for a, b in zip(cpu, npu, strict=True):
        torch.testing.assert_close(a, b)


def test_convolutions_and_attention() -> None:
    """Forward and backward, bit for bit."""

    def train(device: str) -> Any:
        conv = nn.ConvTranspose2d(2, 3, 3, stride=2, groups=1).to(device)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.1).to(device)
        out = conv(torch.randn(1, 2, 4, 4).to(device)), layer(torch.randn(2, 5, 8).to(device))
        sum(o.square().sum() for o in out).backward()
        return [*out, *[p.grad for m in (conv, layer) for p in m.parameters()]]

    _equal(train)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
@pytest.mark.parametrize("options", [{}, {"foreach": True}])
def test_optimizers(optimizer: str, options: dict[str, bool]) -> None:
    """Steps are those of the CPU."""

    def train(device: str) -> Any:
        net = nn.Linear(3, 2).to(device)
        steps = getattr(torch.optim, optimizer)(net.parameters(), lr=0.1, **options)
        for _ in range(3):
            steps.zero_grad()
            net(torch.ones(4, 3, device=device)).square().sum().backward()
            steps.step()
        return list(net.parameters())

    _equal(train)


def test_autocast() -> None:
    """Products are computed in 16 bits, sums of exponentials in 32."""
    a = torch.ones(2, 2, device="npu")
    with torch.autocast("npu"):
        assert (a @ a).dtype == torch.float16
        assert torch.softmax(a @ a, 0).dtype == torch.float32
        assert (a @ a).sum().dtype == torch.float32
        assert torch.cat((a, a @ a)).dtype == torch.float32
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            nn.functional.binary_cross_entropy(a, a)
        with torch.autocast("npu", enabled=False):
            assert (a @ a).dtype == torch.float32
    with torch.npu.amp.autocast(dtype=torch.bfloat16):
        assert nn.functional.linear(a, a).dtype == torch.bfloat16


def test_scaled_gradients() -> None:
    """The scaler skips a step that overflows."""
    for scaler in (torch.amp.GradScaler("npu"), torch.npu.amp.GradScaler()):
        net = nn.Linear(2, 2).npu()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        before = net.weight.clone()
        scaler.scale(net(torch.full((1, 2), 1e38, device="npu")).sum() * 1e3).backward()
        scaler.step(optimizer)
        scaler.update()
        assert torch.equal(before, net.weight)
        assert scaler.get_scale() == 2.0**15


def test_transforms() -> None:
    """torch.func on the device."""
    x = torch.arange(3.0, device="npu")

    def f(v: Any) -> Any:
        return (v.sin() * 2).sum()

    assert torch.equal(torch.func.grad(f)(x), 2 * x.cos())
    assert torch.equal(torch.func.jvp(f, (x,), (torch.ones_like(x),))[1], (2 * x.cos()).sum())
    assert torch.equal(torch.func.vmap(f)(x[:, None]), 2 * x.sin())
    assert torch.func.hessian(f)(x).is_npu


def test_checkpoints_and_dropout() -> None:
    """What is computed again draws the same numbers."""
    x = torch.ones(100, device="npu", requires_grad=True)
    for reentrant in (True, False):
        x.grad = None
        y = checkpoint(lambda v: nn.functional.dropout(v) * 1, x, use_reentrant=reentrant)
        y.sum().backward()
        assert torch.equal(x.grad, y.detach())


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_compiled_attention(dynamic: bool, grouped: bool) -> None:
    """The choice of its kernel needs no values, so that tracing can make it."""

    def attention(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(
            q, k, k, is_causal=True, enable_gqa=grouped
        )

    q = torch.randn(2, 4, 6, 8, device="npu", requires_grad=True)
    k = torch.randn(2, 2 if grouped else 4, 6, 8, device="npu", requires_grad=True)
    expected = torch.autograd.grad(attention(q, k).square().sum(), (q, k))
    compiled = torch.compile(attention, backend="aot_eager", dynamic=dynamic, fullgraph=True)
    got = torch.autograd.grad(compiled(q, k).square().sum(), (q, k))
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_compile() -> None:
    """What needs no compiler of kernels works."""
    compiled = torch.compile(lambda v: (v * 2 + 1).relu(), backend="aot_eager")
    x = torch.ones(2, device="npu", requires_grad=True)
    y = compiled(x)
    y.sum().backward()
    assert y.tolist() == [3, 3]
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(Exception, match="Inductor generates no code for softnpu's device npu"):
        torch.compile(lambda v: v * 3)(x)


def test_autograd_functions_in_python() -> None:
    """The program's own derivatives."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(_context: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(_context: Any, gradient: Any) -> Any:
            return gradient * 2

    x = torch.ones(2, device="npu", requires_grad=True)
    Twice.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
