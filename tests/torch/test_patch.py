# SPDX-License-Identifier: Apache-2.0
"""softnpu.torch.patch: what it routes, what it leaves, and what it says of both."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import Tensor

import softnpu.torch
from tests.torch.samples import values

pytestmark = pytest.mark.torch


class Model(torch.nn.Module):
    """PyTorch's own layers, all of which softnpu has."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            [torch.nn.ELU(inplace=True), torch.nn.SELU(), torch.nn.Upsample(scale_factor=2)]
        )
        self.pool = torch.nn.MaxPool3d(2, return_indices=True)
        self.unpool = torch.nn.MaxUnpool3d(2)

    def forward(self, x: Tensor) -> Tensor:
        """Use each of them."""
        for layer in self.layers:
            x = layer(x * 1)
        return self.unpool(*self.pool(x))  # type: ignore[no-any-return]


def gradient() -> Tensor:
    """One training step's gradient."""
    x, y = values(2, 3, 2, 4, 4).requires_grad_(), torch.zeros(2, 3, 4, 8, 8)
    torch.nn.functional.smooth_l1_loss(Model()(x), y).backward()
    assert x.grad is not None
    return x.grad


def test_a_model_is_routed_forward_and_backward() -> None:
    """Every operator that softnpu has runs there; the result is PyTorch's."""
    expected = gradient()
    with softnpu.torch.patch() as patched:
        got = gradient()
    torch.testing.assert_close(got, expected)
    names = {name.split(".")[1] for name in patched.routed}
    assert names == {
        "elu",
        "elu_",
        "elu_backward",
        "max_unpool3d",
        "smooth_l1_loss",
        "smooth_l1_loss_backward",
        "upsample_nearest3d",
        "upsample_nearest3d_backward",
    }
    assert not patched.kept
    assert "aten.max_unpool3d.default: 1 by softnpu" in patched.report()


def test_what_softnpu_does_not_admit_is_left_to_pytorch() -> None:
    """And counted with the reason."""
    x = values(3, 4).double()
    with softnpu.torch.patch() as patched:
        for _ in range(2):
            assert torch.equal(torch.nn.functional.elu(x), torch.nn.functional.elu(x.clone()))
        torch.nn.functional.elu(torch.empty(3, device="meta"))
    assert not patched.routed
    (reason,) = [why for (_, why), count in patched.kept.items() if count == 4]
    assert "DOUBLE" in reason
    assert "DOUBLE" in patched.report()
    assert "device meta" in patched.report()


def test_it_nests_and_survives_exceptions() -> None:
    """The inner one counts; afterwards nothing is routed any more."""
    x = values(3, 4)
    with softnpu.torch.patch() as outer:
        with softnpu.torch.patch() as inner:
            torch.nn.functional.elu(x)
        torch.nn.functional.elu(x)
        with pytest.raises(ZeroDivisionError), softnpu.torch.patch():
            raise ZeroDivisionError
        torch.nn.functional.elu(x)
    torch.nn.functional.elu(x)
    assert inner.routed.total() == 1
    assert outer.routed.total() == 2


def test_each_thread_has_its_own() -> None:
    """A mode of one thread is none of another's; hooks in the backward pass are in the mode."""
    seen = []
    with softnpu.torch.patch() as patched:
        thread = threading.Thread(target=lambda: seen.append(torch.nn.functional.elu(values(3))))
        thread.start()
        thread.join()
        assert patched.routed.total() == 0
        x = values(3).requires_grad_()
        x.register_hook(lambda g: torch.nn.functional.elu(g))
        torch.nn.functional.elu(x).sum().backward()
    assert patched.routed.total() == 3
    assert len(seen) == 1
