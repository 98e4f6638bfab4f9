# SPDX-License-Identifier: Apache-2.0
"""What writes over a tensor: autograd learns of it, and what it forbids is refused beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad

import softnpu
import softnpu.torch
from tests.torch.samples import values

pytestmark = pytest.mark.torch
ops = torch.ops.softnpu

WRITERS: dict[str, Callable[[Tensor], Any]] = {
    "elu_": softnpu.elu_,
    "selu_": softnpu.selu_,
    "ops.elu_": ops.elu_,
    "ops.selu_": ops.selu_,
    "elu out": lambda t: softnpu.elu(torch.full(t.shape, -5.0), out=t),
    "ops.selu.out": lambda t: ops.selu.out(torch.full(t.shape, -5.0), out=t),
}
each = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


@each
@pytest.mark.parametrize("through", [Tensor.detach, lambda t: t, lambda t: t[:]])
def test_autograd_learns_of_a_write(
    write: Callable[[Tensor], Any], through: Callable[[Tensor], Tensor]
) -> None:
    """Law: overwriting a value that autograd saved is an error, not a wrong gradient."""
    x = values(3).requires_grad_()
    y = x * 1
    z = y.square()
    with torch.no_grad():
        write(through(y))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


@each
def test_what_autograd_forbids_keeps_its_values(write: Callable[[Tensor], Any]) -> None:
    """Law: leaves, their views, and parts of an unbind() are refused before anything is written."""
    leaf = values(2, 3).requires_grad_()
    other = values(2, 3).requires_grad_()
    base = other * 1
    with torch.inference_mode():
        inference = values(2, 3)
    for tensor, whole in [
        (leaf, leaf),
        (leaf[0], leaf),
        (base.unbind(0)[0], base),
        (inference, inference),
    ]:
        before = whole.tolist()
        with pytest.raises(RuntimeError):
            write(tensor)
        assert whole.tolist() == before
    write(inference.detach())  # as PyTorch allows it
    with torch.inference_mode():
        write(inference)
    with torch.no_grad():
        write(leaf)
    assert leaf.tolist() != other.tolist()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "make",
    [lambda: torch.zeros(3, 4), lambda: torch.zeros(1), lambda: torch.zeros(4, dtype=torch.int32)],
    ids=["shape", "one element", "dtype"],
)
@pytest.mark.parametrize("name", ["elu", "selu"])
def test_a_wrong_out_is_refused_everywhere(
    name: str, make: Callable[[], Tensor], compiled: bool
) -> None:
    """Law: out= of another shape, or of a type that cannot hold the result, is never written."""
    torch._dynamo.reset()
    operator = getattr(ops, name)

    def call(x: Tensor, out: Tensor) -> Any:
        return operator.out(x, out=out)

    out = make()
    run = torch.compile(call, backend="aot_eager") if compiled else call
    with pytest.raises(RuntimeError, match="out has"):
        run(values(4), out)
    assert not out.any()


def test_out_of_other_types_is_admitted_compiled_as_eager() -> None:
    """The result of elu is cast; a reduced loss may go to one element of rank 1."""
    torch._dynamo.reset()
    x, one = values(4), torch.zeros(1)

    def call(x: Tensor, wide: Tensor, one: Tensor) -> Any:
        ops.smooth_l1_loss.out(x, x * 0.5, out=one)
        return ops.elu.out(x, out=wide)

    for run in (call, torch.compile(call, backend="aot_eager")):
        wide = torch.zeros(4, dtype=torch.float64)
        run(x, wide, one)
        assert torch.equal(wide.float(), softnpu.elu(x))
        assert torch.equal(one[0], softnpu.smooth_l1_loss(x, x * 0.5))


@pytest.mark.parametrize("alpha", [1.5, 0.0, -1.5])
@pytest.mark.parametrize("scale", [1.25, -1.25])
@pytest.mark.parametrize("input_scale", [0.75, -0.75])
def test_one_gradient_in_every_form(alpha: float, scale: float, input_scale: float) -> None:
    """Law: in place, compiled or not, the gradient is that of the formula; 0 belongs to x <= 0."""
    numbers = (alpha, scale, input_scale)
    x = torch.tensor([-2.0, -0.5, -0.0, 0.0, 0.5, 2.0])
    below = alpha * scale * input_scale * torch.exp(x.double() * input_scale)
    expected = torch.where(x > 0, torch.full_like(below, scale), below)
    assert_gradients(
        x, expected, lambda t: ops.elu(t, *numbers), lambda t: ops.elu_(t * 1, *numbers)
    )


def test_one_gradient_of_selu() -> None:
    """Both forms of selu agree at 0, too, where the slope jumps."""
    x = torch.tensor([-2.0, -0.5, -0.0, 0.0, 0.5, 2.0])
    y = x.double().requires_grad_()
    (expected,) = torch.autograd.grad(torch.nn.functional.selu(y).sum(), y)
    assert_gradients(x, expected, ops.selu, lambda t: ops.selu_(t * 1))


def assert_gradients(x: Tensor, expected: Tensor, *functions: Callable[[Tensor], Any]) -> None:
    """Compare the gradients of functions, eager and compiled, with those expected."""
    for function in functions:
        torch._dynamo.reset()
        for run in (function, torch.compile(function, backend="aot_eager", fullgraph=True)):
            leaf = x.clone().requires_grad_()
            (got,) = torch.autograd.grad(run(leaf).sum(), leaf)
            torch.testing.assert_close(got.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of its own code while it compiles
def test_a_tangent_follows_a_write() -> None:
    """In-place functions on a dual number bring its tangent along."""
    x = values(4)
    with forward_ad.dual_level():
        for write in (softnpu.elu_, softnpu.selu_):
            dual = forward_ad.make_dual(x.clone(), torch.ones(4)) * 1
            write(dual)
            got = forward_ad.unpack_dual(dual)
            function = getattr(softnpu, write.__name__[:-1])
            wanted = forward_ad.unpack_dual(function(forward_ad.make_dual(x, torch.ones(4))))
            assert torch.equal(got.tangent, wanted.tangent)
            assert torch.equal(got.primal, wanted.primal)
