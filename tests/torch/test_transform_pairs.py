# SPDX-License-Identifier: Apache-2.0
"""Every operator under every pair of PyTorch's transforms, against PyTorch's own in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn.functional import elu, interpolate, max_unpool3d, selu, smooth_l1_loss
from torch.utils.checkpoint import checkpoint

from softnpu.torch.selu import ALPHA, LAMBDA
from tests.torch.samples import distinct, values

pytestmark = [
    pytest.mark.torch,
    # Of PyTorch: a transform that it runs element by element, or in another way than before.
    pytest.mark.filterwarnings("ignore"),
]
ops, aten = torch.ops.softnpu, torch.ops.aten
Function = Callable[[Tensor], Tensor]

VOLUME, LARGE = (1, 2, 1, 1, 3), (1, 2, 1, 2, 6)
OUT, POOL = [1, 2, 6], ([1, 2, 6], [1, 1, 1], [0, 0, 0])
NUMBERS = (1.5, 1.25, 0.75)
INDICES = distinct(*VOLUME, of=12)
SIDE, SMALL = values(3, 4, seed=1), values(*VOLUME, seed=1)


def gathered(x: Tensor) -> Tensor:
    """What max_unpool3d_backward gives: each value from where its index says."""
    rows = x.reshape(2, 12).gather(1, INDICES.reshape(2, 3))
    return rows.reshape(VOLUME)


# name: shape of x, softnpu's operator, PyTorch's own
CASES: dict[str, tuple[tuple[int, ...], Function, Function]] = {
    "elu": (
        (3, 4),
        lambda x: ops.elu(x, *NUMBERS),
        lambda x: aten.elu(x, *NUMBERS),
    ),
    "elu_": ((3, 4), lambda x: ops.elu_(x * 1, 1.5), lambda x: elu(x * 1, 1.5, inplace=True)),
    "elu_backward by the gradient": (
        (3, 4),
        lambda x: ops.elu_backward(x, *NUMBERS, False, SIDE.to(x)),
        lambda x: aten.elu_backward(x, *NUMBERS, False, SIDE.to(x)),
    ),
    "elu_backward": (
        (3, 4),
        lambda x: ops.elu_backward(SIDE.to(x), *NUMBERS, False, x),
        lambda x: aten.elu_backward(SIDE.to(x), *NUMBERS, False, x),
    ),
    "elu_backward of the result": (
        (3, 4),
        lambda x: ops.elu_backward(x, *NUMBERS, True, x - 0.1),
        lambda x: aten.elu_backward(x, *NUMBERS, True, x - 0.1),
    ),
    "selu": ((3, 4), ops.selu, selu),
    "selu_": ((3, 4), lambda x: ops.selu_(x * 1), lambda x: selu(x * 1, inplace=True)),
    "selu_backward": (
        (3, 4),
        lambda x: ops.selu_backward(x * 2, x),
        lambda x: aten.elu_backward(x * 2, ALPHA, LAMBDA, 1.0, True, x),
    ),
    "smooth_l1_loss": (
        (3, 4),
        lambda x: ops.smooth_l1_loss(x, SIDE[0].to(x) * x, 1, 0.7),
        lambda x: smooth_l1_loss(x, SIDE[0].to(x) * x, beta=0.7),
    ),
    "smooth_l1_loss, none": (
        (3, 4),
        lambda x: ops.smooth_l1_loss(x[:1], SIDE.to(x) + 0 * x, 0, 0.7),
        lambda x: smooth_l1_loss(
            x[:1].expand_as(x), SIDE.to(x) + 0 * x, reduction="none", beta=0.7
        ),
    ),
    "smooth_l1_loss_backward": (
        (3, 4),
        lambda x: ops.smooth_l1_loss_backward(x.sum() * x, x, SIDE.to(x), 2, 0.7),
        lambda x: aten.smooth_l1_loss_backward(x.sum() * x, x, SIDE.to(x), 2, 0.7),
    ),
    "upsample_nearest3d": (
        VOLUME,
        lambda x: ops.upsample_nearest3d(x, OUT),
        lambda x: interpolate(x, size=OUT),
    ),
    "upsample_nearest3d_backward": (
        LARGE,
        lambda x: ops.upsample_nearest3d_backward(x, OUT, VOLUME),
        lambda x: aten.upsample_nearest3d_backward(x, OUT, VOLUME),
    ),
    "max_unpool3d": (
        VOLUME,
        lambda x: ops.max_unpool3d(x, INDICES, *POOL),
        lambda x: max_unpool3d(x, INDICES, (1, 2, 2), output_size=OUT),
    ),
    "max_unpool3d_backward": (
        LARGE,
        lambda x: ops.max_unpool3d_backward(x, SMALL.to(x), INDICES, *POOL),
        gathered,
    ),
}


def loss_of(f: Function) -> Function:
    """Make one number of a result, in which each element has a weight of its own."""

    def loss(x: Tensor) -> Tensor:
        result = f(x)
        return (result * direction(result)).square().sum()

    return loss


class Holder(torch.nn.Module):
    """A module that computes a function of its parameter."""

    def __init__(self, f: Function, x: Tensor) -> None:
        super().__init__()
        self.f = f
        self.x = torch.nn.Parameter(torch.zeros(x.shape, dtype=x.dtype))

    def forward(self) -> Tensor:
        """Compute the function."""
        return self.f(self.x)


def direction(x: Tensor) -> Tensor:
    """Weights of the shape of a tensor, no two the same."""
    return torch.linspace(0.3, 1.7, x.numel()).reshape(x.shape).to(x)


def with_dual_numbers(f: Function) -> Function:
    """The tangent of f, without torch.func."""

    def transformed(x: Tensor) -> Tensor:
        with forward_ad.dual_level():
            result, tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x, direction(x))))
            return torch.zeros_like(result) if tangent is None else tangent

    return transformed


def with_vjp(f: Function) -> Function:
    """The gradient of f with fixed weights of its results."""

    def transformed(x: Tensor) -> Tensor:
        result, pull = torch.func.vjp(f, x)
        return pull(direction(result))[0]

    return transformed


def with_autograd(f: Function) -> Function:
    """The gradient of f's loss, without torch.func."""

    def transformed(x: Tensor) -> Tensor:
        x = x.detach().requires_grad_()
        return torch.autograd.grad(loss_of(f)(x), x)[0]

    return transformed


TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "grad": lambda f: torch.func.grad(loss_of(f)),
    "vjp": with_vjp,
    "jvp": lambda f: lambda x: torch.func.jvp(f, (x,), (direction(x),))[1],
    "vmap": lambda f: lambda x: torch.vmap(f, in_dims=-1)(torch.stack([x, 3 * x], -1)),
    "jacrev": torch.func.jacrev,
    "jacfwd": torch.func.jacfwd,
    "hessian": lambda f: torch.func.hessian(loss_of(f)),
    "functional_call": lambda f: lambda x: torch.func.functional_call(Holder(f, x), {"x": x}, ()),
    "checkpoint": lambda f: lambda x: checkpoint(f, x, use_reentrant=False),
    "dual numbers": with_dual_numbers,
    "autograd": with_autograd,
}
PAIRS = list(itertools.product(TRANSFORMS, TRANSFORMS))
# PyTorch refuses some pairs of the others with each other, and these with in-place functions.
TRANSFORMING = ("grad", "vjp", "jvp", "vmap", "jacrev", "jacfwd", "hessian")
FORWARD = ("jvp", "jacfwd", "hessian")


def outcome(f: Function, x: Tensor) -> Tensor | Exception:
    """The result of a call, or its error."""
    try:
        return f(x)
    except (RuntimeError, NotImplementedError, AttributeError, TypeError) as error:
        return error


@pytest.mark.parametrize("name", CASES)
def test_pairs(name: str) -> None:
    """Law: outer(inner(operator)) is what it is for PyTorch's own function."""
    shape, ours, theirs = CASES[name]
    x = values(*shape, seed=3)
    wrong = []
    for outer, inner in PAIRS:
        expected = outcome(TRANSFORMS[outer](TRANSFORMS[inner](theirs)), x.double())
        got = outcome(TRANSFORMS[outer](TRANSFORMS[inner](ours)), x)
        if isinstance(expected, Exception):
            assert may_be_refused(name, outer, inner), (outer, inner, expected)
        elif isinstance(got, Exception):
            wrong.append((outer, inner, str(got)))
        elif not torch.allclose(got.double(), expected, rtol=1e-4, atol=1e-4):
            wrong.append((outer, inner, got, expected))
    assert not wrong


@pytest.mark.parametrize("name", [name for name in CASES if not name.endswith("_")])
def test_no_grad_is_for_all_levels(name: str) -> None:
    """What the innermost function computes under torch.no_grad() is constant for each transform."""
    shape, *functions = CASES[name]
    x = values(*shape, seed=3)

    def with_a_constant(f: Function) -> Function:
        def product(x: Tensor) -> Tensor:
            with torch.no_grad():
                constant = loss_of(f)(x)
            return constant * x

        return product

    ours, theirs = map(with_a_constant, functions)
    for outer, inner in itertools.product(("grad", "jvp", "jacrev", "vmap", "hessian"), repeat=2):
        expected = TRANSFORMS[outer](TRANSFORMS[inner](theirs))(x.double())
        got = TRANSFORMS[outer](TRANSFORMS[inner](ours))(x)
        torch.testing.assert_close(got.double(), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["elu_", "selu_"])
@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "vmap", "jacrev", "jacfwd", "hessian"])
def test_functionalize_takes_in_place_functions(name: str, transform: str) -> None:
    """torch.func.functionalize around a transform changes nothing."""
    shape, ours, _ = CASES[name]
    x, function = values(*shape, seed=3), TRANSFORMS[transform](ours)
    assert torch.equal(torch.func.functionalize(function)(x), function(x))


def may_be_refused(name: str, outer: str, inner: str) -> bool:
    """Whether PyTorch may refuse a pair for its own function."""
    if outer in TRANSFORMING and inner in TRANSFORMING:
        return name.endswith("_") and outer in FORWARD and inner in FORWARD
    return True


def all_of_them(which: int, in_place: bool) -> Function:
    """All operators on one vector, so that a pair is compiled once."""

    def f(x: Tensor) -> Tensor:
        parts = [
            case[which](x[: math.prod(case[0])].reshape(case[0])).flatten()
            for name, case in CASES.items()
            if in_place or not name.endswith("_")
        ]
        return torch.cat(parts)

    return f


@pytest.mark.parametrize("name", TRANSFORMS)
def test_pairs_with_compile(name: str) -> None:
    """Law: a compiled transform, and a transform of a compiled function, change nothing."""
    # PyTorch has no forward mode for a compiled copy_().
    in_place = name != "dual numbers"
    ours, theirs = all_of_them(1, in_place), all_of_them(2, in_place)
    transform, x = TRANSFORMS[name], values(24, seed=3)
    expected = transform(theirs)(x.double())

    def compiled(f: Function) -> Function:
        return torch.compile(f, backend="aot_eager")

    for call in (compiled(transform(ours)), transform(compiled(ours))):
        torch._dynamo.reset()
        torch.testing.assert_close(call(x).double(), expected, rtol=1e-4, atol=1e-4)
