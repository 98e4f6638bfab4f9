# SPDX-License-Identifier: Apache-2.0
"""``torch.ops.softnpu``: each operator under autograd, transforms, autocast, and misuse."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad

import softnpu
import softnpu.torch
from softnpu import functional
from tests.torch.samples import SAMPLES, Sample, values

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Input #:UserWarning"),  # gradcheck would like float64
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),  # opcheck
]
each = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
ops = torch.ops.softnpu


def with_grad(sample: Sample) -> list[Any]:
    """The arguments, those that have a gradient asking for it."""
    arguments = list(sample.make())
    for place in sample.differentiable:
        arguments[place] = arguments[place].detach().requires_grad_()
    return arguments


def test_every_function_is_an_operator() -> None:
    """All of softnpu's functions, and nothing else, are operators with an out overload."""
    names = set(functional.__all__) - {"Array"}
    assert {s.name for s in SAMPLES} == {n for n in names if not n.endswith("_")}
    for name in names:
        overloads = getattr(ops, name).overloads()
        assert overloads == (["default"] if name.endswith("_") else ["default", "out"])


@each
def test_opcheck(sample: Sample) -> None:
    """PyTorch's own checks: schema, autograd's registration, fake kernel, dynamic shapes."""
    torch.library.opcheck(sample.operator, tuple(sample.make()))
    torch.library.opcheck(sample.operator, tuple(with_grad(sample)))


@each
def test_the_operator_is_the_function(sample: Sample) -> None:
    """The same bits and strides as softnpu's function gives, out= included."""
    arguments = sample.make()
    got = sample.operator(*arguments)
    expected = getattr(softnpu, sample.name)(*arguments)
    assert torch.equal(got, expected)
    assert got.stride() == expected.stride()
    out = torch.empty_like(got)
    version = out._version
    assert getattr(ops, sample.name).out(*arguments, out=out) is out
    assert torch.equal(out, expected)
    assert out._version > version


@each
def test_first_and_second_derivatives(sample: Sample) -> None:
    """Central differences agree, in float32; second derivatives, too."""
    arguments = with_grad(sample)
    steps = {"eps": 1e-2, "atol": 2e-2, "rtol": 2e-2}

    def call(*tensors: Tensor) -> Any:
        filled = list(arguments)
        for place, tensor in zip(sample.differentiable, tensors, strict=True):
            filled[place] = tensor
        return sample.operator(*filled)

    inputs = tuple(arguments[place] for place in sample.differentiable)
    assert torch.autograd.gradcheck(call, inputs, **steps)
    assert torch.autograd.gradgradcheck(call, inputs, **steps)


@each
def test_vmap(sample: Sample) -> None:
    """A batch gives what its elements give one by one, wherever the batch dimension is."""
    first, second = list(sample.make()), list(sample.make())
    places = [i for i, a in enumerate(first) if isinstance(a, Tensor)]
    for place in sample.differentiable:
        second[place] = -second[place]
    for dim in (0, -1):
        batch = [torch.stack([a, b], dim) for a, b in zip(*_tensors(first, second), strict=True)]

        def call(*tensors: Tensor) -> Any:
            filled = list(first)
            for place, tensor in zip(places, tensors, strict=True):
                filled[place] = tensor
            return sample.operator(*filled)

        got = torch.vmap(call, in_dims=dim)(*batch)
        expected = torch.stack([sample.operator(*first), sample.operator(*second)])
        assert torch.equal(got, expected)


def test_vmap_of_the_largest_rank_and_of_no_samples() -> None:
    """Samples may have rank 8, the most that an operator takes; a batch may be empty."""
    x = values(2, 3, *[1] * 6, 2)
    assert torch.equal(torch.vmap(ops.elu)(x), ops.elu(x[:, :, 0])[:, :, None])
    assert torch.equal(torch.vmap(torch.vmap(ops.selu))(x), torch.vmap(ops.selu)(x))
    none = torch.ones(0, 1, 2, 1, 2, 3)
    assert torch.vmap(ops.elu)(none).shape == none.shape
    assert torch.vmap(lambda a: ops.smooth_l1_loss(a, a))(none).shape == (0,)
    assert torch.vmap(lambda a: ops.upsample_nearest3d(a, [2, 4, 3]))(none).shape == (
        *(0, 1, 2),
        *(2, 4, 3),
    )
    back = torch.vmap(lambda a: ops.upsample_nearest3d_backward(a, [1, 2, 3], [1, 2, 4, 3, 5]))
    assert back(none).shape == (0, 1, 2, 4, 3, 5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own code for tangents
@pytest.mark.parametrize("call", [ops.elu, ops.selu, lambda t: ops.smooth_l1_loss(t, -t, 0)])
def test_tangents_of_rank_0(call: Callable[[Tensor], Tensor]) -> None:
    """PyTorch gives a number of Python's times a tensor of rank 0 a float64 tangent; we do not."""
    x = values(3)
    (slope,) = torch.func.jacrev(lambda t: call(t.sum() * 0.3))(x)[None]
    got, tangent = torch.func.jvp(lambda t: call(t.sum() * 0.3), (x,), (x,))
    assert tangent.dtype == got.dtype == torch.float32
    torch.testing.assert_close(tangent, slope @ x)


def _tensors(*calls: list[Any]) -> list[list[Tensor]]:
    return [[a for a in call if isinstance(a, Tensor)] for call in calls]


@each
def test_transforms_of_torch_func(sample: Sample) -> None:
    """torch.func.grad gives what autograd gives, alone and under vmap."""
    arguments = with_grad(sample)
    place = sample.differentiable[0]

    def loss(tensor: Tensor) -> Tensor:
        filled = [a.detach() if isinstance(a, Tensor) else a for a in arguments]
        filled[place] = tensor
        return sample.operator(*filled).square().sum()  # type: ignore[no-any-return]

    x = arguments[place]
    (expected,) = torch.autograd.grad(loss(x), x)
    torch.testing.assert_close(torch.func.grad(loss)(x.detach()), expected)
    batch = torch.stack([x.detach(), x.detach()])
    torch.testing.assert_close(torch.vmap(torch.func.grad(loss))(batch)[1], expected)


@each
def test_inference_mode_and_no_grad(sample: Sample) -> None:
    """Neither records anything."""
    for context in (torch.no_grad, torch.inference_mode):
        with context():
            got = sample.operator(*with_grad(sample))
            assert not got.requires_grad
            assert got.is_inference() == (context is torch.inference_mode)


@pytest.mark.parametrize("name", ["elu_", "selu_"])
def test_in_place(name: str) -> None:
    """The result, its version, its gradient; views; and what autograd forbids."""
    operator = getattr(ops, name)
    x = values(3, 4)
    expected = getattr(ops, name[:-1])(x)
    version = x._version
    assert operator(x) is x
    assert torch.equal(x, expected)
    assert x._version > version
    leaf = values(3, 4).requires_grad_()
    result = operator(leaf * 2)
    (got,) = torch.autograd.grad(result.sum(), leaf)
    other = values(3, 4).requires_grad_()
    (wanted,) = torch.autograd.grad(getattr(ops, name[:-1])(other * 2).sum(), other)
    torch.testing.assert_close(got, wanted)
    base = leaf * 2
    operator(base[1:])
    (of_view,) = torch.autograd.grad(base.sum(), leaf)
    torch.testing.assert_close(of_view[1:], wanted[1:])
    assert torch.equal(of_view[0], torch.full((4,), 2.0))
    with pytest.raises(RuntimeError, match="leaf"):
        operator(values(3, 4).requires_grad_())
    with torch.no_grad():
        assert torch.equal(operator(values(3, 4).requires_grad_()), expected)


def test_autocast_casts_what_pytorch_casts() -> None:
    """The loss is computed in float32 under autocast, the other operators in their own type."""
    half = torch.bfloat16
    grad, _ = values(3, 4, dtype=half), values(3, 4)
    with torch.autocast("cpu", half):
        ours = [ops.elu(grad), ops.selu(grad), ops.smooth_l1_loss(grad, grad)]
        fun = torch.nn.functional
        theirs = [fun.elu(grad), fun.selu(grad), fun.smooth_l1_loss(grad, grad)]
        box = values(1, 2, 2, 2, 2, dtype=half)
        ours.append(ops.upsample_nearest3d(box, [4, 4, 4]))
        theirs.append(fun.interpolate(box, scale_factor=2))
        functions = [softnpu.elu(grad), softnpu.selu(grad), softnpu.smooth_l1_loss(grad, grad)]
    assert [t.dtype for t in ours] == [t.dtype for t in theirs]
    assert [t.dtype for t in functions] == [t.dtype for t in ours[:3]]


def quantized(tensor: Tensor) -> Tensor:
    """The tensor in eight bits."""
    return torch.quantize_per_tensor(tensor, 1.0, 0, torch.quint8)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: values(3, 4).to_sparse(), ("torch.sparse_coo", "torch.strided")),
        (lambda: quantized(values(3)), ("quantized", "plain")),
        (lambda: values(3, 4).double(), ("DOUBLE", "FLOAT")),
        (lambda: values(3, 4).to(torch.complex64), ("COMPLEX64", "FLOAT")),
    ],
    ids=["sparse", "quantized", "double", "complex"],
)
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_wrong_tensors_are_told_what_is_supported(
    make: Callable[[], Tensor], parts: tuple[str, ...]
) -> None:
    """The contract's status and words, from the operator as from the function."""
    tensor = make()
    for call in (ops.elu, softnpu.elu):
        with pytest.raises(softnpu.ParamInvalidError) as caught:
            call(tensor)
        assert all(part in str(caught.value) for part in ("self", *parts))


def test_meta_tensors_are_refused_outside_a_fake_mode() -> None:
    """A model on the meta device gets an error, not a result without values."""
    with pytest.raises(softnpu.ParamInvalidError, match="lies on device meta"):
        ops.elu(torch.empty(3, 4, device="meta"))
    with pytest.raises(softnpu.ParamInvalidError, match="lies on device meta"):
        softnpu.selu(torch.empty(3, 4, device="meta"))


def test_differing_types_are_refused() -> None:
    """What the contract wants equal is not cast, under autocast neither."""
    grad, x = values(3, 4), values(3, 4).half()
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(softnpu.ParamInvalidError) as caught:
        ops.elu_backward(grad, 1.0, 1.0, 1.0, False, x)
    assert "selfOrResult has data type FLOAT16, but gradOutput has FLOAT" in str(caught.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own code for tangents
def test_out_takes_no_part_in_autograd() -> None:
    """As PyTorch's own operators, a call with out= that would be recorded is refused."""
    x = values(3, 4).requires_grad_()
    with pytest.raises(RuntimeError, match=r"softnpu::elu: a call with out= takes no part"):
        ops.elu.out(x, out=torch.empty(3, 4))
    with torch.no_grad():
        assert torch.equal(ops.elu.out(x, out=torch.empty(3, 4)), softnpu.elu(x))
    x = values(3, 4)
    with forward_ad.dual_level():
        assert torch.equal(ops.elu.out(x, out=torch.empty(3, 4)), softnpu.elu(x))
        dual = forward_ad.make_dual(x, x)
        for given, out in [(dual, torch.empty(3, 4)), (x, dual)]:
            with pytest.raises(RuntimeError, match="has a tangent"):
                ops.elu.out(given, out=out)


def test_parameters_and_deep_copies() -> None:
    """Parameters are tensors as any other; a module with our operators can be copied."""
    parameter = torch.nn.Parameter(values(3, 4))
    ops.selu(parameter).sum().backward()
    assert parameter.grad is not None
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), softnpu.torch.nn.ELU())
    assert torch.equal(copy.deepcopy(model)(values(3, 4)), model(values(3, 4)))
