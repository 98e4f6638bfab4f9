# SPDX-License-Identifier: Apache-2.0
"""softnpu.torch.patch: what it routes, what it leaves, and what it says of both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F  # noqa: N812
from torch.testing._internal.two_tensor import TwoTensor

import softnpu.torch
from tests.torch.samples import distinct, values

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


VOLUME, TARGET = values(2, 3, 2, 2, 3), values(3, 4, seed=1)
PLACES = distinct(2, 3, 2, 2, 3, of=72)


def in_place_on_a_view(x: Tensor) -> Tensor:
    """Write to some columns of a tensor that is used as a whole."""
    whole = x * 2
    F.elu(whole[:, :2], inplace=True)
    return F.selu(whole * 1, inplace=True)


ROUTED: dict[str, tuple[Callable[[Tensor], Tensor], Tensor]] = {
    "elu": (lambda x: F.elu(x, 1.3), values(3, 4)),
    "in place": (in_place_on_a_view, values(3, 4)),
    "loss": (lambda x: F.smooth_l1_loss(x, TARGET, beta=0.6), values(3, 4)),
    "upsample": (lambda x: F.interpolate(x, scale_factor=1.5), VOLUME),
    "unpool": (lambda x: F.max_unpool3d(x, PLACES, 2, output_size=[3, 4, 6]), VOLUME),
}


def weighted(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Make a number of the result, in which every element has another weight."""

    def loss(x: Tensor) -> Tensor:
        result = function(x)
        return (result * torch.linspace(-1, 1, result.numel()).view(result.shape)).square().sum()

    return loss


def second_gradient(function: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    """Differentiate the gradient."""
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(weighted(function)(x), x, create_graph=True)
    return gradient.detach(), torch.autograd.grad(gradient.square().sum(), x)[0]


@torch.inference_mode()
def inference(function: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    """Compute without autograd, on a tensor that never had it."""
    return function(x.clone()).clone()


func, fx = torch.func, make_fx
WAYS: dict[str, Callable[[Callable[[Tensor], Tensor], Tensor], Any]] = {
    "backward": lambda f, x: func.vjp(f, x)[1](torch.ones_like(f(x))),
    "double backward": second_gradient,
    "jvp": lambda f, x: func.jvp(f, (x,), (values(*x.shape, seed=2),)),
    "jvp of grad": lambda f, x: func.jvp(func.grad(weighted(f)), (x,), (torch.ones_like(x),)),
    "vmap": lambda f, x: torch.vmap(f)(torch.stack([x, -x])),
    "vmap of grad": lambda f, x: torch.vmap(func.grad(weighted(f)))(torch.stack([x, -x])),
    "vmap of jvp": lambda f, x: torch.vmap(lambda y: func.jvp(f, (y,), (x,)))(
        x.expand(2, *x.shape)
    ),
    "inference mode": inference,
    "make_fx": lambda f, x: fx(lambda y: f(y))(x)(x),
    "fake tensors": lambda f, x: fx(f, tracing_mode="fake", _allow_non_fake_inputs=True)(x)(x),
    "compile": lambda f, x: torch.compile(f, backend="aot_eager")(x),
}

# PyTorch makes other operators of some.
WITHOUT = [WAYS[way] for way in ("vmap", "vmap of grad", "vmap of jvp")]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("function", "x"), ROUTED.values(), ids=ROUTED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:There is a performance drop")
def test_pytorchs_own_numbers(way: Any, function: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """In every mode and transform; a dispatch mode sees what is left below all of them."""
    torch._dynamo.reset()
    expected = way(function, x)
    torch._dynamo.reset()
    with softnpu.torch.patch() as patched:
        got = way(function, x)
    torch.testing.assert_close(got, expected)
    assert patched.routed or way in WITHOUT


def test_classes_of_tensors_decide_for_themselves() -> None:
    """And what they compute of plain tensors is routed."""
    jagged = torch.nested.nested_tensor([values(2, 3), values(4, 3)], layout=torch.jagged)
    with softnpu.torch.patch() as patched:
        elu = F.elu(jagged)
        two = F.elu(TwoTensor(values(3), values(3, seed=1)), inplace=True)
    torch.testing.assert_close(elu.values(), F.elu(jagged.values()))
    torch.testing.assert_close(two.b, F.elu(values(3, seed=1)))
    assert patched.routed == {"aten.elu.default": 1, "aten.elu_.default": 2}


aten = torch.ops.aten
UP, BACK = aten.upsample_nearest3d.default, aten.upsample_nearest3d_backward.default
UPSAMPLED = values(2, 3, 3, 2, 6)
LEFT: list[tuple[Any, tuple[Any, ...], str]] = [
    (UP, (VOLUME, [3, 2, 6], 1.7, None, None), "three above 0, or none"),
    (UP, (VOLUME, [3, 2, 6], 1.5, -1.0, 2.0), "three above 0, or none"),
    (UP, (VOLUME, [3, 2, 6], 1.5, 1.3, 2.0), "ignores a scale of 1.3, from a size of 2 to 2"),
    (UP, (VOLUME, [3, 2, 6], 1.5, 1.0, 2.3), "ignores a scale of 2.3, from a size of 3 to 6"),
    (aten.upsample_nearest3d.vec, (VOLUME, None, [1.5, 1.3, 2.0]), "ignores a scale of 1.3"),
    (BACK, (UPSAMPLED, [3, 2, 6], VOLUME.shape, None, 1.3, 2.0), "three above 0, or none"),
    (BACK, (UPSAMPLED, [3, 2, 6], VOLUME.shape, 1.5, 1.3, 2.0), "ignores a scale of 1.3"),
    (aten.smooth_l1_loss.default, (TARGET, TARGET[:1]), "self has shape [3, 4], and target [1, 4]"),
    (aten.smooth_l1_loss_backward.default, (TARGET, -TARGET, TARGET, 0, 0.0), "beta is 0"),
]


@pytest.mark.parametrize(("operator", "arguments", "reason"), LEFT, ids=[why for *_, why in LEFT])
def test_what_softnpu_would_compute_otherwise(
    operator: Any, arguments: tuple[Any, ...], reason: str
) -> None:
    """It is left to PyTorch, whose result it is to the bit."""
    expected = operator(*arguments)
    with softnpu.torch.patch() as patched:
        assert torch.equal(operator(*arguments), expected)
    assert reason in patched.report()
    assert not patched.routed


def test_what_pytorch_refuses() -> None:
    """Softnpu takes narrower indices, which PyTorch does not."""
    with softnpu.torch.patch(), pytest.raises(RuntimeError, match="int64"):
        F.max_unpool3d(VOLUME, PLACES.int(), 2, output_size=[3, 4, 6])
