# SPDX-License-Identifier: Apache-2.0
"""The documented operators on the device: by softnpu's contract, under both names."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import softnpu
import softnpu.torch
from tests.torch.samples import SAMPLES, Sample


def _on(device: str, value: Any) -> Any:
    return value.to(device) if isinstance(value, Tensor) else value


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_the_bits_are_those_of_the_cpu(sample: Sample) -> None:
    """As an operator, with gradients, into ``out``, and as softnpu's function."""
    results = []
    for device in ("cpu", "npu"):
        arguments = [_on(device, argument) for argument in sample.make()]
        for place in sample.differentiable:
            arguments[place].requires_grad_()
        result = sample.operator(*arguments)
        seed = torch.linspace(1, 2, result.numel()).to(result.dtype).view(result.shape)
        inputs = [arguments[place] for place in sample.differentiable]
        gradients = torch.autograd.grad(result, inputs, seed.to(device))
        plain = [a.detach() if isinstance(a, Tensor) else a for a in arguments]
        out = torch.empty_like(result)
        getattr(torch.ops.softnpu, sample.name)(*plain, out=out)
        function = getattr(softnpu, sample.name)(*plain)
        found = [result, *gradients, out, function]
        assert {t.device.type for t in found} == {device}
        results.append([t.detach().cpu() for t in found])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_in_place() -> None:
    """elu_ and selu_ write the tensor, and autograd knows."""
    x = torch.tensor([-1.0, 2.0], device="npu")
    version = x._version
    assert torch.ops.softnpu.elu_(x) is x
    assert x._version > version
    assert torch.equal(x.cpu(), softnpu.elu(torch.tensor([-1.0, 2.0])))
    assert softnpu.selu_(x) is x


def test_pytorchs_names_go_to_softnpu() -> None:
    """torch.nn.functional's operators have softnpu's bits, and its gradients."""
    x = torch.randn(2, 3, 2, 2, 2)
    for name, arguments in (
        ("elu", (1.5,)),
        ("selu", ()),
        ("smooth_l1_loss", (torch.zeros(2, 3, 2, 2, 2),)),
        ("interpolate", ((4, 4, 4),)),
    ):
        a, b = x.clone().npu().requires_grad_(), x.clone().requires_grad_()
        on_npu = getattr(functional, name)(a, *[_on("npu", each) for each in arguments])
        on_npu.sum().backward()
        with softnpu.torch.patch():
            on_cpu = getattr(functional, name)(b, *arguments)
            on_cpu.sum().backward()
        assert torch.equal(on_npu.detach().cpu(), on_cpu.detach()), name
        assert a.grad is not None
        assert b.grad is not None
        assert torch.equal(a.grad.cpu(), b.grad), name


def test_errors_are_the_documented_ones() -> None:
    """What the contract does not admit is refused with its status code."""
    with pytest.raises(softnpu.ParamInvalidError, match="BF16"):
        functional.max_unpool3d(
            torch.ones(1, 1, 1, 1, 1, dtype=torch.bfloat16, device="npu"),
            torch.zeros(1, 1, 1, 1, 1, dtype=torch.int64, device="npu"),
            2,
        )
    with pytest.raises(RuntimeError, match="same device"):
        torch.ops.softnpu.elu_backward(torch.ones(2, device="npu"), 1, 1, 1, False, torch.ones(2))


def test_a_setting_lets_pytorch_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    """With SOFTNPU_TORCH_FALLBACK=1, what the product lacks works, and warns once."""
    monkeypatch.setenv("SOFTNPU_TORCH_FALLBACK", "1")
    x = torch.ones(1, 1, 1, 1, 1, dtype=torch.bfloat16, device="npu")
    indices = torch.zeros(1, 1, 1, 1, 1, dtype=torch.int64, device="npu")
    with pytest.warns(UserWarning, match="the product does not have it"):
        result = functional.max_unpool3d(x, indices, 2)
    assert result.is_npu
    assert result.flatten()[0].item() == 1
    monkeypatch.setenv("TORCH_NPU_FALLBACK_CPU_DISABLE", "1")
    with pytest.raises(softnpu.ParamInvalidError):
        functional.max_unpool3d(x, indices, 2)
