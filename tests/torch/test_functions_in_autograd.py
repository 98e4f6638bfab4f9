# SPDX-License-Identifier: Apache-2.0
"""softnpu's own functions on tensors that PyTorch watches, with and without softnpu.torch."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch._subclasses import FakeTensorMode

import softnpu
import softnpu.torch
from tests.torch.samples import SAMPLES, Sample, values

pytestmark = pytest.mark.torch

WITHOUT = """
import sys, warnings
import torch, softnpu
x = torch.ones(3, requires_grad=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = [softnpu.elu(x), softnpu.selu(x), softnpu.elu(x.detach())]
    with torch.no_grad():
        softnpu.elu(x)
assert not any(r.requires_grad for r in results)
print(len(caught), caught[0].category.__name__, caught[0].message)
assert "softnpu.torch" not in sys.modules
"""


def test_without_softnpu_torch_a_warning_says_so_once() -> None:
    """The result is as before, the warning names the function and what to import."""
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 UserWarning softnpu.elu: a tensor that requires grad")
    assert "import softnpu.torch" in done.stdout


def test_importing_softnpu_does_not_import_pytorch() -> None:
    """PyTorch is an extra."""
    code = "import sys, softnpu; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_functions_take_part(sample: Sample) -> None:
    """The same gradient as the operator's; under vmap and with fake tensors, too."""
    function = getattr(softnpu, sample.name)
    gradients = []
    for call in (function, sample.operator):
        arguments = list(sample.make())
        x = arguments[sample.differentiable[0]].detach().requires_grad_()
        arguments[sample.differentiable[0]] = x
        (gradient,) = torch.autograd.grad(call(*arguments).square().sum(), x)
        gradients.append(gradient)
    assert torch.equal(*gradients)
    with FakeTensorMode() as mode:
        arguments = [
            mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in sample.make()
        ]
        assert function(*arguments).shape == sample.operator(*sample.make()).shape


def test_channels_last_arrays_take_part() -> None:
    """format="NDHWC" means the same under autograd."""
    x = values(2, 2, 2, 3, 4)
    plain = softnpu.upsample_nearest3d(x, [4, 4, 6], format="NDHWC")
    recorded = softnpu.upsample_nearest3d(x.requires_grad_(), [4, 4, 6], format="NDHWC")
    assert torch.equal(recorded, plain)
    (got,) = torch.autograd.grad(recorded.sum(), x)
    ones = torch.ones_like(plain)
    size = list(x.shape)
    expected = softnpu.upsample_nearest3d_backward(ones, [4, 4, 6], size, format="NDHWC")
    assert torch.equal(got, expected)


def test_reductions_by_name_and_in_place_functions() -> None:
    """What only the functions take: names of reductions, elu_ and selu_."""
    x = values(3, 4).requires_grad_()
    loss = softnpu.smooth_l1_loss(x, values(3, 4, seed=1), "sum", 0.5)
    assert loss.requires_grad
    y = softnpu.elu_(x * 2)
    assert y.requires_grad


def test_under_vmap_and_grad() -> None:
    """Tensors inside transforms have no memory; the call is PyTorch's then."""
    x = values(3, 4)
    assert torch.equal(torch.vmap(softnpu.selu)(x), softnpu.selu(x))
    got = torch.func.grad(lambda t: softnpu.elu(t, 1.5).sum())(x)
    assert torch.equal(got, softnpu.elu_backward(torch.ones(3, 4), 1.5, 1.0, 1.0, False, x))


def test_numbers_of_a_contract_that_fails_stay_the_same() -> None:
    """An error of the contract is the same error under autograd."""
    x = values(3, 4).double().requires_grad_()
    with pytest.raises(softnpu.ParamInvalidError, match="DOUBLE"):
        softnpu.elu(x)
