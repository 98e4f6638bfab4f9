# SPDX-License-Identifier: Apache-2.0
"""softnpu's own functions on tensors that PyTorch watches, with and without softnpu.torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

import softnpu
import softnpu.torch
from tests.torch.samples import SAMPLES, Sample, values

pytestmark = pytest.mark.torch

WITHOUT_IMPORT = """
import sys, torch, softnpu
x = torch.ones(3, requires_grad=True)
softnpu.elu(x.detach())
assert "softnpu.torch" not in sys.modules
softnpu.elu(x * 2).sum().backward()
print(x.grad.tolist())
"""
IMPOSSIBLE = """
import sys, warnings
import torch, softnpu
sys.modules["softnpu.torch"] = None
x = torch.ones(3, requires_grad=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = [softnpu.elu(x), softnpu.selu(x), softnpu.elu(x.detach())]
    with torch.no_grad():
        softnpu.elu(x)
assert not any(r.requires_grad for r in results)
print(len(caught), caught[0].category.__name__, caught[0].message)
"""


def printed(code: str) -> str:
    """What a program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_functions_take_part_without_an_import() -> None:
    """The first tensor that requires grad brings softnpu.torch along."""
    assert printed(WITHOUT_IMPORT) == "[2.0, 2.0, 2.0]\n"


def test_where_softnpu_torch_cannot_be_imported_a_warning_says_so_once() -> None:
    """Beside a PyTorch that it does not support, the result takes no part in autograd."""
    said = printed(IMPOSSIBLE)
    assert said.startswith("1 UserWarning softnpu.elu: a tensor that requires grad")
    assert "softnpu.torch cannot be imported" in said


def test_importing_softnpu_does_not_import_pytorch() -> None:
    """PyTorch and Triton are extras."""
    code = "import sys, softnpu; sys.exit('torch' in sys.modules or 'triton' in sys.modules)"
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


BOX = values(1, 1, 2, 2, 2)
PLACES = torch.arange(8).reshape(1, 1, 2, 2, 2)
CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "NumPy's float32": lambda t: softnpu.elu(t, np.float32(1.5)),
    "NumPy's int64": lambda t: softnpu.elu(t, np.int64(2)),
    "a tensor of rank 0": lambda t: softnpu.elu(t, torch.tensor(1.5)),
    "a fraction": lambda t: softnpu.elu(t, Fraction(1, 2)),
    "an array of rank 0": lambda t: softnpu.elu(t, np.array(1.5)),
    "text": lambda t: softnpu.elu(t, "1"),
    "None": lambda t: softnpu.elu(t, None),
    "in place": lambda t: softnpu.elu_(t * 1, np.float32(1.5)),
    "beta": lambda t: softnpu.smooth_l1_loss(t, BOX * 2, "mean", np.float32(0.5)),
    "reduction": lambda t: softnpu.smooth_l1_loss(t, BOX * 2, np.int64(2)),
    "no reduction": lambda t: softnpu.smooth_l1_loss(t, BOX * 2, "avg"),
    "a target of NumPy": lambda t: softnpu.smooth_l1_loss(t, BOX.numpy() * 2),
    "an array of sizes": lambda t: softnpu.upsample_nearest3d(t, np.array([4, 4, 4])),
    "a range": lambda t: softnpu.upsample_nearest3d(t, range(4, 7)),
    "a scale": lambda t: softnpu.upsample_nearest3d(t, [4, 4, 4], np.float32(2), 2, 2.0),
    "one size": lambda t: softnpu.upsample_nearest3d(t, 4),
    "a wrong format": lambda t: softnpu.upsample_nearest3d(t, [4, 4, 4], format="XYZ"),
    "floats as sizes": lambda t: softnpu.upsample_nearest3d(t, [4.0, 4.0, 4.0]),
    "a flag of NumPy": lambda t: softnpu.elu_backward(t, np.float32(1), 1, 1, np.bool_(False), BOX),
    "indices of NumPy": lambda t: softnpu.max_unpool3d(
        t, PLACES.numpy(), np.array([4, 4, 4]), [2] * 3, [0] * 3
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_mean_the_same_under_autograd(name: str) -> None:
    """Law: what a call takes, and how it fails, does not depend on requires_grad."""

    def outcome(tensor: torch.Tensor) -> Any:
        try:
            return CALLS[name](tensor).tolist()
        except softnpu.AclnnError as error:
            return type(error), str(error)

    assert outcome(BOX.clone().requires_grad_()) == outcome(BOX)


def test_numbers_that_require_grad_are_refused() -> None:
    """The operators have no derivative by their numbers, and do not pretend it is 0."""
    with pytest.raises(TypeError, match=r"number\.item\(\)"):
        softnpu.elu(BOX, torch.tensor(1.5, requires_grad=True))
